import type { World, WorldActivity } from '../commission/world.ts'

/** A world with what only fraud rules read. The rules and their oracle share nothing but this file. */
export interface FraudWorld extends World {
  activity: (WorldActivity & { drawdown?: number; max_drawdown?: number })[]
  /** The KPIs that the definitions of all events name. */
  kpis: string[]
  /** When customers followed the links by which they came, by customer. */
  clicks: Record<string, number>
  /** The e-mails and names of customers, and the e-mails of affiliates, by id. */
  emails: Record<string, string>
  names: Record<string, { first_name: string; last_name: string }>
  contacts: Record<string, string>
  /** The bank details of affiliates, with the number of the account and when they were entered. */
  payees: { affiliate_id: string; version: number; account: string; at: number; state: string }[]
  /** What was computed. Money is decimal text. */
  statements: {
    id: string
    affiliate_id: string
    plan: string
    period: string
    currency: string
    earned: string
  }[]
}

/** What only fraud rules read, of a world without it. */
export const NOTHING_ELSE = {
  ...{ clicks: {}, emails: {}, names: {}, contacts: {} },
  ...{ kpis: [], payees: [], statements: [] },
}

/** A figure as both write it. */
export interface WorldFigure {
  name: string
  value: string
  comparison: string
  threshold: string
  unit: string
}

/** A finding as both write it. */
export interface WorldFinding {
  day: string
  subject: string[]
  figures: WorldFigure[]
  /** Of a statement `customer_id` is null. */
  evidence: { customer_id: string | null; resource: string; id: string; day: string }[]
}
