/** The types of events to which an endpoint can subscribe. */
export const EVENT_TYPES = [
  'delivery.refused',
  'feed.late',
  'statement.ready',
  'statement.approved',
  'statement.paid',
  'statement.returned',
  'payout.paid',
  'payout.returned',
  'adjustment.created',
  'case.opened',
  'case.decided',
  'question.asked',
  'payee.changed',
  'batch.prepared',
  'application.received',
  'notice.affiliate',
  'notice.team',
  'notice.applicant',
] as const

/** A type of events to which an endpoint can subscribe. */
export type EventType = (typeof EVENT_TYPES)[number]

/** The types of events to which the postback of an affiliate can subscribe. */
export const POSTBACK_EVENTS = [
  'signup',
  'first_deposit',
  'qualified',
  'commission.approved',
  'commission.adjusted',
  'statement.paid',
] as const

/** What the postbacks that want `statement.paid` are sent of a payment that came back. */
export const RETURNED_EVENT = 'statement.returned'

/** A type of events to which a postback can subscribe. */
export type PostbackEvent = (typeof POSTBACK_EVENTS)[number]

/** The type of test events. They need no subscription. */
export const TEST_EVENT = 'webhook.test'

/** Means all types in the list of an endpoint, also those of later versions. */
export const ALL_EVENTS = '*'
