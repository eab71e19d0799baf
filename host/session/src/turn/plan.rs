//! `update_plan`: the model's plan of the turn (SR-50).

use sectile_model::ToolDefinition;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) const UPDATE_PLAN: &str = "update_plan";
const MAX_STEPS: usize = 128;
const MAX_STEP_CHARACTERS: usize = 1_024;

/// A plan of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Why it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Its steps.
    pub plan: Vec<PlanStep>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// What is to be done.
    pub step: String,
    /// How far it is.
    pub status: StepStatus,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

impl StepStatus {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

impl Plan {
    /// The plan that a call asks for.
    pub(crate) fn parse(input: &Value) -> Result<Self, String> {
        let plan: Self = serde_json::from_value(input.clone()).map_err(|e| e.to_string())?;
        if plan.plan.len() > MAX_STEPS {
            return Err(format!("the plan has more than {MAX_STEPS} steps"));
        }
        for (n, step) in plan.plan.iter().enumerate() {
            if step.step.trim().is_empty() {
                return Err(format!("step {} is blank", n + 1));
            }
            if step.step.chars().count() > MAX_STEP_CHARACTERS {
                return Err(format!(
                    "step {} has more than {MAX_STEP_CHARACTERS} characters",
                    n + 1
                ));
            }
        }
        let under_way = plan
            .plan
            .iter()
            .filter(|s| s.status == StepStatus::InProgress);
        if under_way.count() > 1 {
            return Err("more than one step is in progress".to_owned());
        }
        Ok(plan)
    }
}

pub(crate) fn definition() -> ToolDefinition {
    ToolDefinition {
        name: UPDATE_PLAN.to_owned(),
        description: "Replaces the plan of the current task. Give all steps each time, with at \
                      most one in progress. Use it for work of several steps, and keep it current."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "explanation": {"type": "string", "description": "Why the plan changed"},
                "plan": {
                    "type": "array",
                    "maxItems": MAX_STEPS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "step": {"type": "string", "minLength": 1, "maxLength": MAX_STEP_CHARACTERS},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
                        },
                        "required": ["step", "status"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["plan"],
            "additionalProperties": false
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(step: &str, status: &str) -> Value {
        json!({"step": step, "status": status})
    }

    #[test]
    fn sr_50_a_plan_is_taken_whole_or_not_at_all() {
        let long = "x".repeat(1_024);
        for good in [
            json!({"plan": []}),
            json!({"plan": [step("a", "in_progress"), step("b", "pending")], "explanation": "e"}),
            json!({"plan": vec![step(&long, "completed"); 128]}),
        ] {
            assert!(Plan::parse(&good).is_ok(), "{good}");
        }
        let too_long = "x".repeat(1_025);
        for bad in [
            json!({}),
            json!([]),
            json!({"plan": [step("a", "done")]}),
            json!({"plan": [], "extra": 1}),
            json!({"plan": [{"step": "a", "status": "pending", "extra": 1}]}),
            json!({"plan": [step(" ", "pending")]}),
            json!({"plan": [step(&too_long, "pending")]}),
            json!({"plan": vec![step("a", "pending"); 129]}),
            json!({"plan": [step("a", "in_progress"), step("b", "in_progress")]}),
        ] {
            assert!(Plan::parse(&bad).is_err(), "{bad}");
        }
    }
}
