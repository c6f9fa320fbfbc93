import type { EventDefinition } from '../db/directory/event-definitions.ts'
import type { Account } from '../db/schema.ts'

/** What of an account the integrations team may change; live tokens are told within a minute. */
export interface Settings {
  /** Goes up with each change: what is older never replaces what is newer. */
  version: number
  name: string
  time_zone: string
  unknown_customer: 'reject' | 'hold'
  unknown_affiliate: 'warn' | 'reject'
  /** No token of a disabled account is let through. */
  disabled: boolean
  /** How a brand's events are to be read. */
  events: readonly EventDefinition[]
}

/** What a live token stands for: whose it is, what it may do, and how its records are judged. */
export interface Grant extends Settings {
  account: string
  /** The OAuth client that asked for the token; null: it is a Brand Token. */
  client_id: string | null
  vertical: string
  mode: string
  /** The D1 binding that keeps the account's records. */
  binding: string
  /** A subset of `read write`, in that order. */
  scope: string
}

/** An account's settings, as its tokens carry them. */
export function settingsOf(account: Account, events: readonly EventDefinition[]): Settings {
  const { version, name, time_zone, unknown_customer, unknown_affiliate, disabled } = account
  const policies = { unknown_customer, unknown_affiliate }
  return { version, name, time_zone, ...policies, disabled: disabled === 1, events }
}

/** All that a request must know of its account rides in this: no other place is asked. */
export function grantOf(
  account: Account,
  client_id: string | null,
  scope: string,
  events: readonly EventDefinition[] = [],
): Grant {
  const { id, vertical, mode, binding } = account
  return { account: id, client_id, vertical, mode, binding, scope, ...settingsOf(account, events) }
}
