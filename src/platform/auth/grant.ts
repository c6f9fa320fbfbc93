import type { AmountSigns } from '../amount-signs.ts'
import type { Account } from '../db/schema.ts'
import type { EventDefinition } from '../directory/event-definitions.ts'
import type { AffiliateView } from './affiliate-view.ts'

/** The account settings that the integrations team can change. Live tokens get changes within a minute. */
export interface Settings {
  /** Increases with each change, so that older settings never replace newer ones. */
  version: number
  /** The name of the D1 binding with the account's records, which changes when the account moves. */
  binding: string
  name: string
  time_zone: string
  /** The zone of the days of a partner's records. */
  book_zone: string
  /** How it writes the amounts of outflows. */
  amount_signs: AmountSigns
  unknown_customer: 'reject' | 'hold'
  unknown_affiliate: 'warn' | 'reject'
  /** The bytes that the account may store. */
  storage_quota: number
  /** Tokens of a disabled account are refused. */
  disabled: boolean
  /** The event definitions of a brand. */
  events: readonly EventDefinition[]
  /** The words of its status map. */
  statuses: readonly string[]
}

/** What an account has configured of its records, beside the columns of its row. */
export type Vocabulary = Pick<Settings, 'events' | 'statuses'>

/** The rights of a live token and the account settings that apply to its records. */
export interface Grant extends Settings {
  account: string
  /** The OAuth client; null for a Brand Token. */
  client_id: string | null
  vertical: Account['vertical']
  mode: Account['mode']
  /** A subset of `read write`, in this order; `read` or `read links` of an affiliate. */
  scope: string
  /** The affiliate who calls; absent if the account itself calls. */
  affiliate?: CallingAffiliate
}

/** An affiliate of an account as a caller. */
export interface CallingAffiliate {
  readonly id: string
  /** The member who is signed in to the portal; null for a key. */
  readonly member: string | null
  /** The id of the key; null for a session. */
  readonly key: string | null
  /** What they see. A request reads it again: that of a stored grant may be old. */
  readonly view: AffiliateView
}

/**
 * Returns who makes a change of an affiliate, for the audit log: a person who is signed in, or a key. The log has
 * no names of people.
 */
export const affiliateActor = ({ id, member, key }: Omit<CallingAffiliate, 'view'>): string =>
  member === null ? `affiliate-key ${key} ${id}` : `affiliate-member ${member} ${id}`

const AFFILIATE_ACTOR = /^affiliate-(member|key) (\S+) (.+)$/s

/** Returns what of an affiliate made a change; null if somebody else did. */
export function parseAffiliateActor(
  actor: string,
): { by: string; id: string; affiliate_id: string } | null {
  const [, by, id, affiliate_id] = AFFILIATE_ACTOR.exec(actor) ?? []
  if (by === undefined || id === undefined || affiliate_id === undefined) return null
  return { by, id, affiliate_id }
}

/** Returns the filter by the affiliate who calls; nothing if the account itself calls. */
export const ownFilter = ({ affiliate }: Grant): { affiliate_id?: string } =>
  affiliate ? { affiliate_id: affiliate.id } : {}

/**
 * Returns whether the caller may see what belongs to an affiliate and has a status: everything, unless it is
 * another affiliate, or a draft that affiliates do not see.
 */
export const maySee = ({ affiliate }: Grant, owner: string, status: string): boolean =>
  !affiliate || (affiliate.id === owner && (status !== 'draft' || affiliate.view.drafts))

/** Returns the settings of an account. */
export function settingsOf(account: Account, vocabulary: Vocabulary): Settings {
  const { version, binding, name, unknown_customer, unknown_affiliate, disabled } = account
  const { time_zone, book_zone, amount_signs, storage_quota } = account
  const policies = { unknown_customer, unknown_affiliate }
  const days = { time_zone, book_zone, amount_signs }
  const stored = { version, binding, name, ...days, ...policies, storage_quota }
  return { ...stored, disabled: disabled === 1, ...vocabulary }
}

/** Returns the grant of a token. It has everything a request needs to know about its account. */
export function grantOf(
  account: Account,
  client_id: string | null,
  scope: string,
  vocabulary: Vocabulary = { events: [], statuses: [] },
): Grant {
  const { id, vertical, mode } = account
  return { account: id, client_id, vertical, mode, scope, ...settingsOf(account, vocabulary) }
}
