//! The counters of one network interface, and those of the machine's TCP.

use record::Network;

use super::text::Text;

/// Bits per second of a megabit, the unit of `speed`.
const BPS_PER_MBPS: u64 = 1_000_000;

/// Where one interface's counters are read (Documentation/ABI/testing/sysfs-class-net and -net-statistics).
#[derive(Debug)]
pub(super) struct NetworkSource {
    interface: String,
    speed_bps: Option<u64>,
    received: Text,
    sent: Text,
    dropped: Option<Text>,
    snmp: Option<Text>,
}

/// An interface's counters since it appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NetworkCounters {
    received_bytes: u64,
    sent_bytes: u64,
    dropped: u64,
    tcp_retransmitted: Option<u64>,
}

impl NetworkSource {
    /// `None` where there is no such interface.
    pub(super) fn open(interface: &str) -> Option<Self> {
        let folder = format!("/sys/class/net/{interface}");
        let counter = |name: &str| Text::open(&format!("{folder}/statistics/{name}"));
        Some(Self {
            interface: interface.to_owned(),
            // Interfaces without a link refuse to be read, or say -1; those without a device behind them (veth says 10
            // Gb/s) make a rate up.
            speed_bps: is_device(&folder)
                .then(|| Text::open(&format!("{folder}/speed")).and_then(|mut text| speed_bps(text.read()?)))
                .flatten(),
            received: counter("rx_bytes")?,
            sent: counter("tx_bytes")?,
            dropped: counter("rx_dropped"),
            snmp: Text::open("/proc/net/snmp"),
        })
    }

    pub(super) fn read(&mut self) -> Option<NetworkCounters> {
        let number = |text: &mut Text| text.read()?.trim().parse::<u64>().ok();
        Some(NetworkCounters {
            received_bytes: number(&mut self.received)?,
            sent_bytes: number(&mut self.sent)?,
            // Virtual interfaces may not count drops; bytes are what the reconciliation needs.
            dropped: self.dropped.as_mut().and_then(number).unwrap_or(0),
            // Of the whole machine: the kernel counts them per connection only where a socket is asked.
            tcp_retransmitted: self.snmp.as_mut().and_then(|snmp| tcp_retransmitted(snmp.read()?)),
        })
    }

    /// What was added from `before` to `after`; `None` where a counter went backwards.
    pub(super) fn between(
        &self,
        before: NetworkCounters,
        after: NetworkCounters,
        wall_ns: u64,
    ) -> Option<Network> {
        let retransmitted = || after.tcp_retransmitted?.checked_sub(before.tcp_retransmitted?);
        Some(Network {
            interface: self.interface.clone(),
            speed_bps: self.speed_bps,
            received_bytes: after.received_bytes.checked_sub(before.received_bytes)?,
            sent_bytes: after.sent_bytes.checked_sub(before.sent_bytes)?,
            dropped: after.dropped.checked_sub(before.dropped)?,
            tcp_retransmitted: retransmitted(),
            wall_ns,
        })
    }
}

/// Whether there is hardware behind an interface, a virtual machine's included.
fn is_device(folder: &str) -> bool {
    std::path::Path::new(folder).join("device").exists()
}

/// Megabits per second, where there are some.
fn speed_bps(speed: &str) -> Option<u64> {
    speed.trim().parse::<u64>().ok().filter(|mbps| *mbps > 0)?.checked_mul(BPS_PER_MBPS)
}

/// `RetransSegs` of the two lines of `/proc/net/snmp` that begin with `Tcp:`, names and values (RFC 4022,
/// `tcpRetransSegs`).
fn tcp_retransmitted(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|name| name == "RetransSegs")?;
    values.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNMP: &str = "Ip: Forwarding DefaultTTL\nIp: 1 64\n\
        Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs \
        OutSegs RetransSegs InErrs OutRsts InCsumErrors\n\
        Tcp: 1 200 120000 -1 120 80 3 4 5 100000 90000 321 0 17 0\nUdp: InDatagrams\nUdp: 7\n";

    #[test]
    fn segments_sent_again_are_found_by_their_name() {
        assert_eq!(tcp_retransmitted(SNMP), Some(321));
        assert_eq!(tcp_retransmitted("Tcp: RetransSegs\n"), None);
    }

    #[test]
    fn a_speed_of_nothing_is_no_speed() {
        assert_eq!(speed_bps("25000\n"), Some(25_000_000_000));
        assert_eq!([speed_bps("-1\n"), speed_bps("0\n"), speed_bps("")], [None, None, None]);
    }

    #[test]
    fn the_loopback_interface_counts_both_ways() {
        let mut source = NetworkSource::open("lo").unwrap();
        let before = source.read().unwrap();
        let after = NetworkCounters { received_bytes: before.received_bytes + 70, ..before };
        let network = source.between(before, after, 5).unwrap();
        assert_eq!((network.interface.as_str(), network.speed_bps), ("lo", None));
        assert_eq!((network.received_bytes, network.sent_bytes, network.wall_ns), (70, 0, 5));
        assert_eq!(source.between(after, before, 5), None, "a counter went backwards");
        assert!(NetworkSource::open("no-such-interface").is_none());
    }
}
