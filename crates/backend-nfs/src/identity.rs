//! The user and groups that calls are made as.

use nfs3_types::rpc::{auth_unix, opaque_auth};
use nfs3_types::xdr_codec::Opaque;

/// Groups that `AUTH_SYS` carries, at most (RFC 5531 appendix A).
const GROUPS_MAX: usize = 16;

/// This process's user and groups, as `AUTH_SYS` tells them.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    user: u32,
    group: u32,
    groups: Vec<u32>,
    /// Groups that did not fit.
    cut: usize,
}

impl Identity {
    pub(crate) fn of_process() -> Self {
        // SAFETY: these calls touch no memory and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        // A process with more groups than fit is told without them: AUTH_SYS could not carry them either.
        let groups = rustix::process::getgroups().unwrap_or_default();
        Self::new(user, group, groups.into_iter().map(rustix::process::Gid::as_raw).collect())
    }

    fn new(user: u32, group: u32, mut groups: Vec<u32>) -> Self {
        // getgroups(2) may include the effective group, which has a field of its own and would take one of
        // the 16.
        groups.retain(|other| *other != group);
        let cut = groups.len().saturating_sub(GROUPS_MAX);
        groups.truncate(GROUPS_MAX);
        Self { user, group, groups, cut }
    }

    pub(crate) fn credential(&self) -> opaque_auth<'static> {
        opaque_auth::auth_unix(&auth_unix {
            stamp: 0,
            machinename: Opaque::borrowed(b"feedline"),
            uid: self.user,
            gid: self.group,
            gids: self.groups.clone(),
        })
    }

    /// For the record.
    pub(crate) fn shown(&self) -> String {
        let more = match self.cut {
            0 => String::new(),
            cut => format!(", {cut} more not told as AUTH_SYS carries {GROUPS_MAX}"),
        };
        format!("AUTH_SYS uid {} gid {}, {} further groups{more}", self.user, self.group, self.groups.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_groups_are_told_and_it_is_said_when_there_are_more() {
        let identity = Identity::new(7, 8, (0..30).collect());
        assert_eq!(identity.groups.len(), 16);
        assert_eq!(
            identity.shown(),
            "AUTH_SYS uid 7 gid 8, 16 further groups, 13 more not told as AUTH_SYS carries 16"
        );
        assert_eq!(Identity::new(7, 8, vec![8, 9]).shown(), "AUTH_SYS uid 7 gid 8, 1 further groups");
    }

    #[test]
    fn a_credential_stays_within_what_a_call_may_carry() {
        let body = Identity::new(1, 2, (100..200).collect()).credential().body;
        assert!(body.len() <= 400, "RFC 5531 section 8.2");
    }
}
