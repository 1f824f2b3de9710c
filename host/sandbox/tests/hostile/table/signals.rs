//! Signals. 256 may wait at one time.

use std::time::Duration;

use modberth_sandbox::Layer::ResourceLimits;

use crate::drive::Drive;
use crate::row::Shown::{Outside, Stopped, StoppedAfter};
use crate::row::{
    Row, always, attack, gone_by_itself, killed_by_backstop, killed_by_host, left_behind, outcome,
};

pub(crate) const ROWS: &[Row] = &[
    always("stop-self", &["unheard"]),
    always("stopped-child-left", &[])
        .sees(Outside(gone_by_itself))
        .then(Outside(left_behind))
        .driven(Drive::UntilEnded),
    outcome("ignore-signals", Outside(killed_by_host)).driven(Drive::UntilLine),
    // P1-HOST-25
    outcome("outlive-backstop", Outside(killed_by_backstop))
        .tuned(|profile| profile.backstop = Some(Duration::from_millis(300))),
    outcome("close-streams", Outside(killed_by_host)).driven(Drive::UntilClosed),
    attack("signal-flood", &[], &[ResourceLimits]).sees(StoppedAfter("EAGAIN", 256, 256)),
    attack("timers-flood", &[], &[ResourceLimits]).sees(StoppedAfter("EAGAIN", 256, 256)),
    always("kill-everybody", &["its-own"]),
    outcome("host-signalled", Stopped(&["ESRCH"])),
];
