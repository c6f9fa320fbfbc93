/** The types of events that an endpoint can want. */
export const EVENT_TYPES = [
  'delivery.refused',
  'feed.late',
  'feed.recovered',
  'customer.unattributed',
  'statement.ready',
  'statement.approved',
  'statement.paid',
  'adjustment.created',
  'credential.expiring',
] as const

/** The type of an event that an endpoint can want. */
export type EventType = (typeof EVENT_TYPES)[number]

/** The type of test events, which every endpoint gets when it is tested. */
export const TEST_EVENT = 'webhook.test'

/** Stands for all types in the list of an endpoint, and for those of later versions. */
export const ALL_EVENTS = '*'
