/** What can need the attention of an account. */
export const ATTENTION_CODES = [
  'feed_late',
  'refused_records',
  'expiring_credentials',
  'failing_webhooks',
  'failing_postbacks',
  'held_records',
  'unmapped_statuses',
  'negative_amounts',
  'unconfigured_affiliates',
  'unapproved_drafts',
  'waiting_for_rates',
  'returned_payments',
  'open_cases',
  'waiting_cases',
  'too_large_affiliates',
  'open_questions',
] as const
