import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { decimal } from './decimal.ts'

// The known members of brand records, under their wire names. All other members are stored as sent.

/** A brand time; `readTime` parses it. */
export const time = member(
  f.text,
  said("A date-time in the account's time zone, a date, or an RFC 3339 date-time."),
)

/** The known members of a customer. Only `customerId` is required. */
export const customer = {
  customerId: member(
    f.id,
    said(
      'Identifies the player. The id never changes; sending it again updates the stored customer.',
      'P-1001',
    ),
  ),
  regtime: member(
    time,
    said(
      'When the player registered, preferably as `YYYY-MM-DD HH:mm`. Recommended.',
      '2026-10-01 08:30',
    ),
  ),
  country: member(
    f.text,
    said(
      "The player's country, preferably as an ISO 3166-1 alpha-2 code. Alpha-3 codes and English names are recognized, with the warning `country`.",
      'DE',
    ),
  ),
  firstName: member(
    f.text,
    said("The player's first name. Personal data: an erasure removes it permanently.", 'Eve'),
  ),
  lastName: member(
    f.text,
    said("The player's last name. Personal data: an erasure removes it permanently.", 'Moran'),
  ),
  tracking_data: member(
    f.tracking,
    said(
      'The value that the service added to the landing page URL, returned unchanged: 1 to 50 characters. A value that is empty, too long or not text is ignored, with the warning `altered`. It never fails the request.',
      'tr1kBm7Qx2VnR8sYt4Wz6LcDf0GhJ3pTa5UeXvNq9MbKyRw',
    ),
  ),
}

/** The column of each known member of a customer. */
export const COLUMNS = {
  customerId: 'customer_id',
  regtime: 'regtime',
  country: 'country_code',
  firstName: 'first_name',
  lastName: 'last_name',
  tracking_data: 'tracking_data',
} as const

/** The known members of an activity. `eventname`, `customerid` and at least one amount are required. */
export const activity = {
  eventname: member(
    f.id,
    said('The type of event, as agreed with the integrations team.', 'Deposit'),
  ),
  customerid: member(
    f.id,
    said('Identifies the player: the `customerId` of a customer.', 'P-1001'),
  ),
  eventid: member(
    f.id,
    said(
      'Identifies the event. Sending the same id again replaces the event and never counts it twice, unless the event definition ignores `eventid`.',
      'dep-778',
    ),
  ),
  createtime: member(
    time,
    said(
      'When the event happened. Recommended. A date without a time makes the record a daily aggregate; sending it again replaces it.',
      '2026-10-02 09:30',
    ),
  ),
  Value: member(
    decimal,
    said(
      'The amount of a single-KPI event. It is positive also where money leaves, as with a withdrawal, unless the `amount_signs` of the account is `signed`. Revenue, such as GGR, can be negative.',
      '100.00',
    ),
  ),
  Currency: member(
    f.currency,
    said('The ISO 4217 currency code of the amounts. Recommended.', 'EUR'),
  ),
  product: member(
    f.text,
    said(
      'The product line: `casino`, `sports`, `poker` or `bingo` in any letter case, or a value that the event definition maps to one of them. Letter case does not count in the name either.',
      'casino',
    ),
  ),
}
