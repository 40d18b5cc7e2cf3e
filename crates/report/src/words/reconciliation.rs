//! Counts of bytes that do not agree, a sentence each.

use analysis::{Reconciliation, WireCause, WireFinding};
use feed::format_bytes;

use super::share::percent;

/// What does not fit among the bytes asked, read by this process and read by the device; `None` where they agree.
pub(crate) fn device(found: &Reconciliation) -> Option<String> {
    Some(match found {
        // What agrees is nothing to look into.
        Reconciliation::Agrees { .. } => return None,
        Reconciliation::CacheServed { share, direct: true } => format!(
            "{} of the bytes asked were not counted as read by this process: holes in the files, or the counters were read \
             late",
            percent(*share)
        ),
        Reconciliation::CacheServed { share, .. } => format!(
            "{} of the bytes asked did not come from storage: the page cache served them, or the files have holes",
            percent(*share)
        ),
        Reconciliation::NotCounted => "the kernel counts no read of this process here, though the device read what was \
                                       asked: this file system is not counted per process, or others read while the page \
                                       cache served"
            .to_owned(),
        Reconciliation::NothingCounted => "the kernel counts no read of this process here, and no block device is known \
                                           below the target: what came from storage is not known"
            .to_owned(),
        Reconciliation::Rounded { factor } => format!(
            "{factor:.2} x the bytes asked were read: storage reads whole blocks of 4 KiB, and the reads are not multiples \
             of that"
        ),
        Reconciliation::ReadMore { factor } => format!(
            "{factor:.2} x the bytes asked were read: read-ahead, or reads that are no multiple of the blocks below"
        ),
        Reconciliation::OthersRead { bytes, share } => format!(
            "others read {} from the device meanwhile, {} of all it read",
            format_bytes(*bytes),
            percent(*share)
        ),
        Reconciliation::DeviceShort { share } => format!(
            "the device's counter lacks {} of what this process read: another device served it, or its counting is \
             switched off",
            percent(*share)
        ),
        Reconciliation::ProcessUnknown => "the kernel does not say what this process read from storage".to_owned(),
        Reconciliation::DeviceUnknown => {
            "no block device is known below the target: what crossed it was not counted".to_owned()
        }
    })
}

/// What does not fit among the bytes delivered, on the wire and at the interface.
pub(crate) fn wire(found: &WireFinding) -> String {
    match found {
        WireFinding::More { per_byte, cause } => {
            format!("{per_byte:.2} bytes on the wire per byte delivered: {}", wire_cause(*cause))
        }
        WireFinding::Less { per_byte } => format!(
            "{per_byte:.2} bytes on the wire per byte delivered: the data was compressed on the way, or a count is wrong"
        ),
        WireFinding::OthersReceived { ratio } => format!(
            "the interface carried {ratio:.2} times what the sockets did: others use it too, or segments came again"
        ),
        WireFinding::OtherInterface { ratio } => format!(
            "the interface carried {} of what the sockets did: the storage is reached by another one too",
            percent(*ratio)
        ),
    }
}

fn wire_cause(cause: WireCause) -> String {
    match cause {
        WireCause::Failures { bytes } => {
            format!("{} were data of operations that failed", format_bytes(bytes))
        }
        WireCause::Headers { bytes_each } => format!("{bytes_each:.0} B of headers to each message"),
        WireCause::Unexplained => "more than headers explain".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_has_a_sentence_and_what_agrees_has_none() {
        let sentences = [
            (
                Reconciliation::CacheServed { share: 0.75, direct: false },
                "75 % of the bytes asked did not come from storage: the page cache served them, or the files have holes",
            ),
            (
                Reconciliation::CacheServed { share: 0.25, direct: true },
                "25 % of the bytes asked were not counted as read by this process: holes in the files, or the counters \
                 were read late",
            ),
            (
                Reconciliation::ReadMore { factor: 1.5 },
                "1.50 x the bytes asked were read: read-ahead, or reads that are no multiple of the blocks below",
            ),
            (
                Reconciliation::OthersRead { bytes: 25_000_000, share: 0.2 },
                "others read 25 MB from the device meanwhile, 20 % of all it read",
            ),
        ];
        for (found, expected) in sentences {
            assert_eq!(device(&found).as_deref(), Some(expected));
        }
        assert_eq!(device(&Reconciliation::Agrees { within: 0.04 }), None);
    }

    #[test]
    fn bytes_on_the_wire_are_said_with_their_cause() {
        let more = |cause| wire(&WireFinding::More { per_byte: 1.5, cause });
        let said = "1.50 bytes on the wire per byte delivered";
        let headers = more(WireCause::Headers { bytes_each: 500.0 });
        assert_eq!(headers, format!("{said}: 500 B of headers to each message"));
        let failures = more(WireCause::Failures { bytes: 1_200_000_000 });
        assert_eq!(failures, format!("{said}: 1.2 GB were data of operations that failed"));
        assert_eq!(more(WireCause::Unexplained), format!("{said}: more than headers explain"));
    }
}
