import type { WireWarning } from '../../../src/validation/warnings.ts'
import type { Explanation } from './explanation.ts'

/** A warning, as the guide explains it. */
export interface WarningExplanation extends Explanation {
  /** The records that can have it. */
  on: readonly RecordKind[]
}

/** A kind of record: of partner firms (prop trading and forex), or of brands (iGaming). */
export type RecordKind =
  | 'customers'
  | 'transactions'
  | 'trading activity'
  | 'brand customers'
  | 'brand activities'

const FACTS = ['transactions', 'trading activity', 'brand activities'] as const
const CUSTOMERS = ['customers', 'brand customers'] as const
const ALL = [...CUSTOMERS, ...FACTS] as const

/** Explains each warning about a stored record. */
export const WARNING: Record<WireWarning, WarningExplanation> = {
  unknown_affiliate: {
    on: ['customers'],
    cause:
      'The `affiliate_id` is not configured for this account. The customer is stored, and is assigned ' +
      'to the affiliate as soon as the affiliate is configured.',
    fix:
      'If the id is mistyped, send the customer again with an affiliate that `GET account` lists. ' +
      'If the affiliate is new, ask the integrations team to configure it. You need not send the ' +
      'customer again.',
  },
  withdrawn_currency: {
    on: FACTS,
    cause:
      'ISO 4217 has withdrawn the currency recently. `message` names the month. The record is ' +
      'stored, because it may describe an earlier day.',
    fix: 'For later days send the successor, such as `EUR` instead of `HRK` or `BGN`.',
  },
  unattributed: {
    on: ['brand customers'],
    cause:
      'The customer of a brand has no `tracking_data`, in this request or an earlier one. The ' +
      'customer is organic: no affiliate is paid.',
    fix:
      'Keep the `tracking_data` parameter of the landing page until the customer has registered, ' +
      'and send it as `tracking_data`. For customers who did not follow a link, ignore the warning.',
  },
  altered: {
    on: CUSTOMERS,
    cause:
      '`tracking_data` has the format of this service, but its signature is invalid: it was ' +
      'truncated, extended, or its case was changed. In the brand API, `tracking_data` that is ' +
      'empty, longer than 50 characters or not text also has this warning and is ignored. Brands: an ' +
      'affiliate who was attributed before is still paid; without one, no affiliate is paid. Firms: ' +
      'the affiliate in `affiliate_id` is paid.',
    fix:
      'Send the value unchanged: 47 characters that begin with `tr1`. Store it in a case-sensitive ' +
      'column of at least 50 characters.',
  },
  foreign: {
    on: CUSTOMERS,
    cause:
      '`tracking_data` is valid but belongs to a link of another account. Brands: an affiliate who was ' +
      'attributed before is still paid; without one, no affiliate is paid. Firms: the affiliate in ' +
      '`affiliate_id` is paid.',
    fix:
      'Send the customer with the credentials of the account that owns the link. Check that you do ' +
      'not mix two brands, or a test and a live account.',
  },
  unrecognised: {
    on: ['brand customers'],
    cause:
      'The `tracking_data` of a brand does not have the format of this service, so it does not come ' +
      'from one of its links. It is stored. An affiliate who was attributed before is still paid; ' +
      'without one, no affiliate is paid.',
    fix:
      'Send the value of the `tracking_data` parameter of the landing page, which begins with ' +
      '`tr1`, instead of a click id of your own.',
  },
  conflict: {
    on: ['customers'],
    cause:
      'The link in `tracking_data` belongs to another affiliate than `affiliate_id`. The affiliate ' +
      'in `affiliate_id` is paid until you send the customer again with another `affiliate_id`.',
    fix:
      'If the link is right, send the customer again with the affiliate of the link as ' +
      '`affiliate_id`. If `affiliate_id` is right, ignore the warning.',
  },
  erased: {
    on: [...CUSTOMERS, 'brand activities'],
    cause:
      'The personal data of this customer was permanently erased. Names, e-mail address, ' +
      'additional fields and details of activities are not stored again. For a brand, neither are the ' +
      'country and `tracking_data` that the service did not issue. All other fields are stored.',
    fix: 'Stop sending the personal data of this customer. The record needs no correction.',
  },
  not_a_number: {
    on: ['brand activities'],
    cause:
      'An event without `Value` and without an event definition has a member such as `"1,000.00"` ' +
      'or `"+5"`. It is stored as a detail, but not summed.',
    fix:
      'Write the number as `"1000.00"`, and send the event again with the same `eventid` or day, ' +
      'which replaces it.',
  },
  not_deduplicated: {
    on: ['brand activities'],
    cause:
      'The event has no usable `eventid`, is not a daily total, and its request has no ' +
      '`Idempotency-Key`. If you send it again, it counts again.',
    fix:
      'Send a unique `eventid`, such as `"eventid": "bet-1001"`. Or send daily totals with the day ' +
      'as `createtime`, such as `"2026-10-02"`. Or send an `Idempotency-Key` with the request and ' +
      'repeat it with the same key.',
  },
  no_createtime: {
    on: ['brand activities'],
    cause:
      'The event has no `createtime`. It counts on the day on which it first arrived, in the time ' +
      'zone of the account.',
    fix: 'Send `"createtime": "2026-10-02 09:30"`, or with an offset `"2026-10-02T09:30:00Z"`.',
  },
  skipped_time: {
    on: ['brand customers', 'brand activities'],
    cause:
      'The time has no offset and does not exist in the time zone of the account, because clocks ' +
      'were set forward. The service moved it forward, such as 02:30 to 03:30. `message` shows the ' +
      'result.',
    fix: 'Send times with an offset, such as `2026-03-29T01:30:00Z`.',
  },
  ambiguous_time: {
    on: ['brand customers', 'brand activities'],
    cause:
      'The time has no offset and exists twice in the time zone of the account, because clocks were ' +
      'set back. The service used the first of the two. `message` shows it.',
    fix: 'Send times with an offset, such as `2026-10-25T01:30:00Z`.',
  },
  unmapped_product: {
    on: ['brand activities'],
    cause:
      'The product is none of `casino`, `sports`, `poker` and `bingo`, and no event definition maps ' +
      'it to one of them. It is counted as a separate product line. The warning also means that the event ' +
      'has a member `Product` that no event definition names: it is stored as a detail.',
    fix:
      'Send `"product": "casino"` in lowercase, or ask the integrations team to map your words in ' +
      'the event definition. A new map applies to later requests.',
  },
  field_case: {
    on: ['brand customers', 'brand activities'],
    cause:
      'A member of a brand’s record, such as `Country`, differs from a known member only by case. ' +
      'It is stored as an additional field, and the known member counts as omitted.',
    fix:
      'Use the spelling in `message`: `country`, `firstName`, `lastName`, `regtime` and ' +
      '`tracking_data` for customers, and the spelling of the event definition for KPIs and the ' +
      'product field.',
  },
  repeated_key: {
    on: ['brand customers', 'brand activities'],
    cause:
      'An earlier record of the same request has the same key. A brand’s customers are merged in the ' +
      'order of the array: what a later record leaves out is kept. Of a brand’s activities, the last ' +
      'record is stored. Where `message` speaks of different events, records with one `eventid` differ in ' +
      '`eventname` or `customerid`, and all but the last are lost.',
    fix:
      'If the records are versions of one customer or event, ignore the warning, or send only the last ' +
      'version. If they are different events, give each an `eventid` of its own and send them again: ' +
      'deposits and withdrawals that are each numbered from 1 need a prefix, such as `dep-1` and `wd-1`.',
  },
  changed_event: {
    on: ['brand activities'],
    cause:
      'An event with this `eventid` was stored with another `eventname` or `customerid`. A correction ' +
      'of an event rarely changes either, so two different events probably have the same `eventid`. The ' +
      'record has replaced the stored event, which no longer counts.',
    fix:
      'If the event was sent under a wrong name or customer before, ignore the warning. Otherwise ' +
      'give each event an `eventid` of its own and send both events again.',
  },
  affiliation_changed: {
    on: CUSTOMERS,
    cause:
      'The customer was stored with another affiliate; for brands, with another link. `from` is the ' +
      'day from which the new affiliate counts. The first affiliate of a firm’s customer is replaced ' +
      'from the signup on if it lasted less than a day and no statement with it was approved. Any other ' +
      'change counts from the day on which it was received, and earlier days stay with the affiliate ' +
      'before.',
    fix:
      'If the customer moved to another affiliate, ignore the warning. If the earlier affiliate was ' +
      'wrong and `from` is not the signup, ask the integrations team to correct the affiliates of this ' +
      'customer.',
  },
  negative_amount: {
    on: ['transactions', 'brand activities'],
    cause:
      'Amounts say how much was moved, and the type of the transaction says in which direction. So all ' +
      'amounts are positive, except those of `adjustment`, `bonus` and `other`, which may have either ' +
      'sign. A negative withdrawal, for example, would add to a sum that subtracts withdrawals. Of a ' +
      'brand’s events, those that are outflows by their definition are positive. If the account’s ' +
      '`amount_signs` is `signed`, outflows are expected to be negative instead, and the warning means ' +
      'that one is positive.',
    fix:
      'Send `"amount_currency": 75.50` for a withdrawal of 75.50, and send the record again under the ' +
      'same id. If your system writes all outflows as negative numbers, ask the integrations team to ' +
      'set `amount_signs` of the account to `signed`.',
  },
  before_signup: {
    on: FACTS,
    cause:
      'The record lies before the signup of its customer, which `message` names. The clock of a payment ' +
      'provider can be some seconds behind, or the signup is wrong. A rule that pays once, and the sums ' +
      'that qualify for it, include records up to `grace_hours` before the signup: 24 unless the plan ' +
      'says otherwise. Records that wait for their customer are not compared.',
    fix:
      'If the signup is wrong, send the customer again with the right one. If the time of the record is ' +
      'wrong, send the record again under the same id. Within the hours of the plan, nothing is lost.',
  },
  no_regtime: {
    on: ['brand customers'],
    cause:
      'The customer has no `regtime`, in this request or an earlier one. The customer signed up at the ' +
      'earliest of the events that waited for them, otherwise when they were first received. Earlier ' +
      'events that arrive later lie before the signup.',
    fix: 'Send `"regtime": "2026-10-01 08:30"` with every customer.',
  },
  implausible_time: {
    on: ALL,
    cause:
      'A date of the record is before 2000-01-01, or more than 36 hours after the record was received. ' +
      'It is often a default value such as 1970-01-01, a time in milliseconds that was read as ' +
      'seconds, or a wrong year. The record earns nothing at such a time.',
    fix: 'Send the record again under the same id with the right date.',
  },
  unmapped_status: {
    on: ['transactions', 'brand activities'],
    cause:
      'The status is none of `pending`, `approved`, `declined` and `reversed`, and the status map of ' +
      'the account does not say which of them it means. The record earns nothing. Letter case counts.',
    fix:
      'If the word is misspelt, send the record again. If it is a word of yours, ask the integrations ' +
      'team to add it to the status map. You need not send the record again then.',
  },
  unknown_event: {
    on: ['brand activities'],
    cause:
      'The `eventname` has no event definition, but is very close to one that has: letter case, ' +
      'spaces or a letter differ. Plans and definitions name events exactly, so the event is read ' +
      'without a definition, and earns nothing where a plan names the defined one.',
    fix:
      'Send the name in `message`, such as `"eventname": "Deposit"`. Without an `eventid`, the event ' +
      'with the wrong name stays: ask the integrations team. If the name is right, ask them to ' +
      'define it too.',
  },
  whitespace: {
    on: ALL,
    cause:
      'An id begins or ends with white space, which often comes from a spreadsheet or a fixed-width ' +
      'column. Ids are stored and compared as sent: `"C-1001 "` is not `"C-1001"`.',
    fix:
      'Trim ids before you send them. The record under the wrong id stays stored: ask the integrations ' +
      'team if it must be removed.',
  },
  country: {
    on: CUSTOMERS,
    cause:
      'The country is not an alpha-2 code of ISO 3166-1. If a brand sends `de`, `DEU` or `Germany`, ' +
      'plans that name `DE` match all the same, and `message` says so. Any other text matches only ' +
      'plans that name exactly this text. In the partner API, `UK` and `EU` have the form of a code, ' +
      'but are none: plans compare them as sent.',
    fix: 'Send `"country": "DE"`, or `"country_code": "DE"` in the partner API. The United Kingdom is `GB`.',
  },
  amount_usd: {
    on: ['transactions'],
    cause:
      '`amount_usd` cannot be the amount in USD: it is 0 beside an amount that is not, it has another ' +
      'sign, or it differs from `amount_currency` although `currency` is `USD`. Plans in USD use ' +
      '`amount_usd` where it is present.',
    fix:
      'Send the converted amount, such as `"amount_usd": 109.40`. Omit the member if you do not know ' +
      'it, and never send 0 in its place.',
  },
}
