//! The list: read, checked, written out.

use crate::kept;
use schemars::JsonSchema;
use sectile_sdk::Failure;
use sectile_sdk::tool::{Context, Output};
use serde::{Deserialize, Serialize};

/// Items of one list.
const MAX_ITEMS: usize = 128;
/// Characters of one item.
const MAX_CONTENT: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The whole list, in the order of the work; leave it out to see the list as it is
    #[schemars(length(max = 128))]
    todos: Option<Vec<Item>>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    /// What is to be done, in a few words
    #[schemars(length(min = 1, max = 500))]
    content: String,
    /// How far it is; one item at a time is in_progress
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

/// How far the work is.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counts {
    /// Items not begun
    pending: usize,
    /// Items being worked on
    in_progress: usize,
    /// Items done
    completed: usize,
}

pub(crate) fn run(input: Write, context: &Context<'_>) -> Result<Output, Failure> {
    let items = match input.todos {
        None => kept::load(context.session_id)?,
        Some(items) => {
            check(&items)?;
            match is_done(&items) {
                true => kept::remove(context.session_id)?,
                false => kept::save(context.session_id, &items)?,
            }
            items
        }
    };
    Output::text(shown(&items)).structured(&counts(&items))
}

fn check(items: &[Item]) -> Result<(), Failure> {
    let wrong = |why: String| {
        Err(Failure::InvalidInput(format!(
            "{why}; the earlier list holds"
        )))
    };
    if items.len() > MAX_ITEMS {
        return wrong(format!("{} items are more than {MAX_ITEMS}", items.len()));
    }
    for (n, item) in items.iter().enumerate() {
        let characters = item.content.chars().count();
        if item.content.trim().is_empty() || characters > MAX_CONTENT {
            return wrong(format!(
                "item {} has {characters} characters; say what is to be done in 1 to {MAX_CONTENT}",
                n + 1
            ));
        }
    }
    match counts(items).in_progress {
        0 | 1 => Ok(()),
        n => wrong(format!(
            "{n} items are in_progress, and one at a time may be"
        )),
    }
}

fn is_done(items: &[Item]) -> bool {
    items.iter().all(|item| item.status == Status::Completed)
}

fn counts(items: &[Item]) -> Counts {
    let of = |status| items.iter().filter(|item| item.status == status).count();
    Counts {
        pending: of(Status::Pending),
        in_progress: of(Status::InProgress),
        completed: of(Status::Completed),
    }
}

fn shown(items: &[Item]) -> String {
    let mut text = String::new();
    for Item { content, status } in items {
        let mark = match status {
            Status::Pending => "[ ]",
            Status::InProgress => "[>]",
            Status::Completed => "[x]",
        };
        let line: Vec<_> = content.split_whitespace().collect();
        text.push_str(&format!("{mark} {}\n", line.join(" ")));
    }
    let counts = counts(items);
    match items.is_empty() {
        true => "The list is empty.".to_owned(),
        false => format!("{text}{} of {} completed", counts.completed, items.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(content: &str, status: Status) -> Item {
        Item {
            content: content.to_owned(),
            status,
        }
    }

    #[test]
    fn a_list_is_shown_with_its_marks_each_item_on_one_line() {
        let items = [
            item("read\nthe issue", Status::Completed),
            item("write the code", Status::InProgress),
            item("test it", Status::Pending),
        ];
        assert_eq!(
            shown(&items),
            "[x] read the issue\n[>] write the code\n[ ] test it\n1 of 3 completed"
        );
        assert_eq!(shown(&[]), "The list is empty.");
    }

    #[test]
    fn a_list_that_cannot_be_followed_is_refused() {
        let doing = || item("a", Status::InProgress);
        for items in [
            vec![doing(), doing()],
            vec![item(" \n", Status::Pending)],
            vec![item(&"é".repeat(MAX_CONTENT + 1), Status::Pending)],
            vec![item("a", Status::Pending); MAX_ITEMS + 1],
        ] {
            assert!(matches!(check(&items), Err(Failure::InvalidInput(_))));
        }
        assert!(check(&[doing(), item(&"é".repeat(MAX_CONTENT), Status::Pending)]).is_ok());
    }
}
