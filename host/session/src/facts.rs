//! What sections are told.

use crate::host::{Host, PluginState};
use sectile_manifest::{DirectoryAccess, DirectorySource};
use sectile_sandbox::{self as sandbox, Facts};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn facts(host: &Host, query: Option<&str>) -> Facts {
    let Host {
        workspace,
        profile,
        operator,
        model,
        ..
    } = host;
    let tokens = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Facts {
        workspace: sandbox::Workspace {
            working_directory: workspace.root.to_string_lossy().into_owned(),
            repository_root: workspace
                .repository_root
                .as_ref()
                .map(|root| root.to_string_lossy().into_owned()),
        },
        model: sandbox::Model {
            provider: host.provider.clone(),
            name: model.name.clone(),
            context_window: tokens(model.context_window),
            max_output_tokens: tokens(model.max_output_tokens),
        },
        platform: sandbox::Platform {
            os: std::env::consts::OS.to_owned(),
            os_version: String::new(),
            arch: std::env::consts::ARCH.to_owned(),
            shell: std::env::var("SHELL").ok(),
        },
        policy: sandbox::Policy {
            mode: operator.mode.name().to_owned(),
            file_tools_write: tools_write(host),
            ..sandbox::Policy::default()
        },
        tools: Arc::clone(&host.summaries),
        clock: clock(SystemTime::now()),
        request: sandbox::Request {
            source: "cli".to_owned(),
            ..sandbox::Request::default()
        },
        profile: profile.name.clone(),
        locale: profile.locale.to_string(),
        query: query.map(str::to_owned),
        ..Facts::default()
    }
}

/// Whether a tool that may run was granted to change files of the workspace.
fn tools_write(host: &Host) -> bool {
    host.plugins.iter().any(|plugin| {
        let tools = match &plugin.state {
            PluginState::Loaded(loaded) => loaded.tools.is_some(),
            PluginState::Blocked | PluginState::Broken(_) => false,
        };
        let manifest = &plugin.candidate.manifest;
        let mut asked = manifest.capability.filesystem.iter();
        tools
            && asked.any(|directory| {
                directory.source == DirectorySource::Workspace
                    && directory.access == DirectoryAccess::ReadWrite
            })
    })
}

/// UTC, since the user's time zone is not known here.
fn clock(now: SystemTime) -> sandbox::Clock {
    let seconds = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let of_day = seconds % 86_400;
    sandbox::Clock {
        unix_seconds: seconds,
        local_date: format!("{year:04}-{month:02}-{day:02}"),
        local_time: format!(
            "{:02}:{:02}:{:02}",
            of_day / 3_600,
            of_day / 60 % 60,
            of_day % 60
        ),
        time_zone: "UTC".to_owned(),
    }
}

/// Year, month and day of a day counted from 1970-01-01, in eras of 400 years
/// that begin in March, so that the leap day comes last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_788, (2026, 12, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
    }
}
