import type { WarningCode } from '../../../src/validation/warnings.ts'
import type { Explanation } from './explanation.ts'

/** A warning as it is called on the wire. */
export type WireWarning = Exclude<WarningCode, 'stray_product'> | 'unknown_affiliate'

/** Why a record that is stored has a warning, and how to be rid of it. */
export const WARNING: Record<WireWarning, Explanation> = {
  unknown_affiliate: {
    cause:
      'The `affiliate_id` is not configured for this account. The customer is stored, and ' +
      'attributed to nobody until it is.',
    fix:
      'If it is mistyped, send the customer again with one of the `affiliates` that `GET ' +
      'account` lists. If it is new, have the integrations team configure it: earlier customers ' +
      'are attributed then without a re-send.',
  },
  withdrawn_currency: {
    cause:
      'ISO 4217 has withdrawn the currency lately; `message` says in which month. The record is ' +
      'stored, since it may be older than that.',
    fix:
      'For what happened later send the currency that came after it, such as `EUR` for `HRK` and ' +
      '`BGN`.',
  },
  unattributed: {
    cause:
      'No `tracking_data` came with the customer of a brand, and none was stored of it before: ' +
      'it is paid to nobody.',
    fix:
      'Keep the `tracking_data` that the landing page finds in its query until the customer has ' +
      'registered, and send it as `tracking_data`. For who came by no link of ours the warning ' +
      'is right, and nothing is to be done.',
  },
  altered: {
    cause:
      '`tracking_data` was one of ours, but its signature fails: it was cut, changed in case, or ' +
      'added to. In the brand API also: it is empty, longer than 50 characters or no text, and ' +
      'is stored as absent.',
    fix:
      'Return it byte for byte as the landing page was given it: 47 characters that begin with ' +
      '`tr1`. Keep it in a column of at least 50 characters that minds the case.',
  },
  foreign: {
    cause:
      '`tracking_data` is as we gave it out, but for a link of another account: it is paid to ' +
      'nobody here.',
    fix:
      'Send the customer with the credentials of the account whose link was followed. Most often ' +
      'two brands, or test and live, are mixed up.',
  },
  unrecognised: {
    cause:
      '`tracking_data` of a brand is not in our format, so no link of ours led to this customer. ' +
      'It is kept, and paid to nobody.',
    fix:
      'Send the value of the parameter `tracking_data` as the landing page was given it (it ' +
      'begins with `tr1`), not a click id of your own.',
  },
  conflict: {
    cause:
      'The link in `tracking_data` belongs to another affiliate than the one in `affiliate_id`. ' +
      'The one in `affiliate_id` is paid.',
    fix:
      'If the link is right, send the customer again with the affiliate of the link as ' +
      '`affiliate_id`. If `affiliate_id` is right, nothing is to be done.',
  },
  erased: {
    cause:
      'The personal data of this customer was erased for good: names, e-mail address and ' +
      'additional fields of the record are not stored again, all else is.',
    fix: 'Nothing is to be mended. Stop sending the personal data of this customer.',
  },
  not_a_number: {
    cause:
      'An event with neither a `Value` nor an event definition has a member of digits and ' +
      'separators, such as `"1,000.00"` or `"+5"`: it is kept as a detail, and summed nowhere.',
    fix:
      'Write it as `"1000.00"`, and send the event again under the same `eventid` or day, which ' +
      'replaces it.',
  },
  not_deduplicated: {
    cause:
      'The event has no `eventid` (or a definition that ignores it), is no daily total, and its ' +
      'request has no `Idempotency-Key`: nothing tells it from others, so sent again it counts ' +
      'again.',
    fix:
      'Send an `eventid` that is unique among all your events, such as `"eventid": "bet-1001"`. ' +
      'Or send daily totals, with the day as `createtime`: `"2026-10-02"`. Or give the request ' +
      'an `Idempotency-Key`, and keep it for its repeats.',
  },
  no_createtime: {
    cause:
      'The event has no `createtime`: it counts on the day on which it was first received, in ' +
      'the time zone of the account.',
    fix: 'Send `"createtime": "2026-10-02 09:30"`, or with an offset: `"2026-10-02T09:30:00Z"`.',
  },
  skipped_time: {
    cause:
      'The time has no offset, and the clock of the account’s time zone never showed it: ' +
      'daylight saving began. It was read as much later as the clock was set forward; `message` ' +
      'shows the result.',
    fix: 'Send times with their offset, such as `2026-03-29T01:30:00Z`.',
  },
  ambiguous_time: {
    cause:
      'The time has no offset, and the clock of the account’s time zone showed it twice: ' +
      'daylight saving ended. The first was taken; `message` shows it.',
    fix: 'Send times with their offset, such as `2026-10-25T01:30:00Z`.',
  },
  unmapped_product: {
    cause:
      'The product is none of `casino`, `sports`, `poker` and `bingo`, and no event definition ' +
      'maps it to one: it counts as itself. Or the event has a member `Product` that no event ' +
      'definition names: it is kept as a detail then.',
    fix:
      'Send `"product": "casino"`, in small letters, or have the integrations team map your ' +
      'words in the event definition; a map judges what arrives later.',
  },
  field_case: {
    cause:
      'A member of a brand’s record is called like a known one but for its case, such as ' +
      '`Country`. It is kept as a field of your own, and the known one counts as left out.',
    fix:
      'Write it as `message` says: `country`, `firstName`, `lastName`, `regtime` and ' +
      '`tracking_data` of customers; of events the KPIs and the product field, as their ' +
      'definition spells them.',
  },
}
