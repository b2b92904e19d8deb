//! Points in time as people write them, in UTC.

const NS_PER_S: u64 = 1_000_000_000;
const S_PER_DAY: u64 = 86_400;
/// Days of 400 years, after which the calendar begins anew.
const DAYS_PER_ERA: u64 = 146_097;
/// Days from 1 March of the year 0 to 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;

/// `2026-11-20 18:33` of nanoseconds since 1970, UTC. Absent (`None`) for 0, which is not known.
pub(crate) fn minute(unix_ns: u64) -> Option<String> {
    if unix_ns == 0 {
        return None;
    }
    let seconds = unix_ns / NS_PER_S;
    let (year, month, day) = civil(seconds / S_PER_DAY);
    let (hour, minute) = (seconds % S_PER_DAY / 3600, seconds % 3600 / 60);
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"))
}

/// Year, month and day of days since 1970 in the Gregorian calendar. Years begin in March here, so that the leap day is
/// the last one: months of 31 and 30 days then repeat every 153 days.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_BEFORE_1970;
    let day_of_era = days % DAYS_PER_ERA;
    let years =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * years + years / 4 - years / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = days / DAYS_PER_ERA * 400 + years + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_since_1970_are_dates() {
        // date -u -d @…
        let shown = |seconds: u64| minute(seconds * NS_PER_S);
        assert_eq!(shown(1_700_000_000).unwrap(), "2023-11-14 22:13");
        assert_eq!(shown(951_782_400).unwrap(), "2000-02-29 00:00");
        assert_eq!(shown(951_868_799).unwrap(), "2000-02-29 23:59");
        assert_eq!(shown(4_107_542_400).unwrap(), "2100-03-01 00:00");
        assert_eq!(shown(1).unwrap(), "1970-01-01 00:00");
        assert_eq!(minute(0), None);
        assert_eq!(minute(u64::MAX).unwrap(), "2554-07-21 23:34");
    }
}
