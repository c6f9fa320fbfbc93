import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import type { Member, Shows } from '../../platform/auth/roles.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { AnyOperation } from '../../platform/http/operation.ts'
import { bookZoneOf, dayInZone } from '../../platform/zone.ts'
import type { Api } from './api.ts'
import { createContext, useContext } from './context.ts'
import type { RenderPart } from './respond.ts'
import type { Session, ShownSecret } from './session.ts'

/** The entries of the navigation of an account, in their order: the first group has no heading. */
export const SECTION_GROUPS = [
  { heading: null, sections: ['Overview', 'Reports'] },
  { heading: 'Commissions', sections: ['Statements', 'Payouts', 'Plans', 'Rates'] },
  { heading: 'Fraud review', sections: ['Cases', 'Rules'] },
  { heading: 'People', sections: ['Affiliates', 'Applications', 'Questions', 'Customers'] },
  { heading: 'Records', sections: ['Deliveries', 'Held records'] },
  { heading: 'Settings', sections: ['Account', 'Webhooks', 'Audit log'] },
] as const

/** An entry of the navigation. */
export type Section = (typeof SECTION_GROUPS)[number]['sections'][number]

/** The fields of a form that a member sent. A field that is absent is an empty text. */
export interface Values {
  (name: string): string
  /** The bytes of the field `file`, on a page with `fileBytes`. */
  readonly file?: Uint8Array<ArrayBuffer> | undefined
}

/** An error of a change, beside the field that it points at. */
export interface FieldError {
  readonly pointer?: string
  readonly message: string
  readonly hint?: string
  readonly code?: string
}

/** What stands for the filters of a page where changes have their names. */
export const FILTERS = 'filters'

/** A change that was refused: the page is shown again with what was sent, and with the errors. */
export interface RefusedForm {
  readonly change: string
  readonly values: Values
  readonly detail: string
  readonly errors: readonly FieldError[]
}

/** The names of the plans of an account, by their ids. */
export type PlanNames = ReadonlyMap<string, string>

/** Reads the names that a page shows. Each is read once, whatever the number of places that show it. */
export interface Names {
  /** Returns the names of all plans. It is empty if they cannot be read, and then pages show ids. */
  plans(): Promise<PlanNames>
  /** Returns the name of an affiliate; null if it has none. All names that a page asks for are read together. */
  affiliate(id: string): Promise<string | null>
}

/** One request for a page. */
export interface Visit {
  /** The request itself: for what only a browser does, such as passkeys. */
  readonly c: Context<AppEnv>
  readonly session: Session
  readonly member: Member
  readonly api: Api
  /** The parameters of the page's path. */
  readonly params: Readonly<Record<string, string>>
  /** The account of the path; empty on pages of no account. */
  readonly account: string
  /** Whether the scope of the member has the page of an address, also of one that is no page. */
  mayOpen(address: string): boolean
  /** The changes of the page. */
  readonly changes: Page['changes']
  /** The name of the account; null if there is none. */
  readonly accountName: string | null
  /** The names of the plans and affiliates of the account. */
  readonly names: Names
  /** The parameters of the query that the page supports. Empty ones are absent. */
  readonly query: Readonly<Record<string, string | undefined>>
  /** The path of the page, without a query. */
  readonly path: string
  /** The time of the request, in milliseconds. */
  readonly now: number
  /** The current day of the account's books: its first millisecond, as if it were in UTC. */
  readonly today: number
  readonly csrf: string
  readonly refused: RefusedForm | null
  /** What was typed in a form that one of its buttons asks to show again. Nothing is changed. */
  readonly typed: Values | null
  /** The part of the page that is sent later; empty until the page is rendered. */
  readonly deferred: RenderPart[]
}

/** The visit whose page is rendered. Part of a page can be rendered as if its address had another query. */
export const VisitContext = createContext<Visit | null>(null)

/** Returns the visit whose page is rendered. A component has it as its second parameter, read before any `await`. */
export function useVisit(): Visit {
  const visit = useContext(VisitContext)
  if (!visit) throw new Error('A component that needs a visit was rendered outside of a page.')
  return visit
}

/** What a page shows: its heading, and what is below it. */
export interface View {
  readonly title: string
  readonly body: Child
  /** The address to send the browser to, instead of showing the page. */
  readonly next?: string
}

/** A change that a form of a page asks for. */
export interface Change extends AfterChange {
  /** The operation that it calls, if it is one: whoever may not call it has no form of it. */
  readonly of?: AnyOperation
  /** Makes the change by operations, and returns their answer, or a file to send. */
  perform(values: Values, visit: Visit): Promise<unknown>
}

/** Whether a change did all that was asked for. */
export type Tone = 'good' | 'warn'

/** What is shown before and after a change. */
interface AfterChange {
  /** The message after the change, or a function that returns it, or a new secret, for the answer of the API. */
  done: string | ((answer: unknown) => string | ShownSecret)
  /** Returns the address to show next; the same page if absent. */
  next?(answer: unknown, visit: Visit): string
  /** Shows the answer instead of `done`. A reload of the page sends the form again: for what may be repeated. */
  show?(answer: unknown, visit: Visit): Child
  /** Returns how the answer is shown: as a success if absent. */
  toneOf?(answer: unknown): Tone
}

/** A page of the console. */
export interface Page {
  /** The path below `/console`, with parameters such as `/accounts/:account/deliveries`. */
  readonly path: string
  /** Of what it shows something, for members with a scope. */
  readonly shows: Shows
  /** The entry of the navigation that the page belongs to. */
  readonly section?: Section
  /** The parameters of its query. Others are ignored. */
  readonly query?: readonly string[]
  /** The most bytes of a file that is no text: its forms get its bytes. */
  readonly fileBytes?: number
  /** The changes of its forms, by name. */
  readonly changes?: Readonly<Record<string, Change>>
  /** Returns what a form then shows if a button only asks to show it again; null if it asks for its change. */
  redraw?(values: Values): Values | null
  /** Responds with the file that a query asks for in place of the page; null if it asks for none. */
  file?(visit: Visit): Promise<Response> | null
  /** Reads what the page shows at once. It reads in parallel, because it may cost three round trips to D1, and names one more. */
  render(visit: Visit): Promise<View>
}

/** Returns the address of a page of an account. Every part is encoded. */
export const accountPath = (account: string, ...parts: string[]) =>
  ['/console/accounts', ...[account, ...parts].map(encodeURIComponent)].join('/')

/** Returns an address with a query; values that are absent or empty are left out. */
export function withQuery(path: string, query: Visit['query']): string {
  const filled = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return filled.length === 0 ? path : `${path}?${new URLSearchParams(filled)}`
}

/** What decides on the days of an account. */
export type DatedAccount = Parameters<typeof bookZoneOf>[0]

/** Returns the current day of an account's books at `now`: its first millisecond, as if it were in UTC. */
export const startOfToday = (account: DatedAccount, now: number): number =>
  Date.parse(dayInZone(bookZoneOf(account), now))

/** Returns the day (UTC) that is `days` days before `now` (milliseconds). */
export const dayBefore = (now: number, days: number): string =>
  new Date(now - days * DAY_MS).toISOString().slice(0, 10)

/** Awaits the values of an object at the same time. */
export async function allOf<T extends Readonly<Record<string, unknown>>>(
  values: T,
): Promise<{ readonly [Name in keyof T]: Awaited<T[Name]> }> {
  const found = await Promise.all(
    Object.entries(values).map(async ([name, value]) => [name, await value]),
  )
  return Object.fromEntries(found)
}
