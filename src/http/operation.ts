import type { Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv, ReadAccounts } from '../auth/authorize.ts'
import { type Role, requireRole } from '../auth/roles.ts'
import { resolveDatabase } from '../db/database.ts'
import { findAccount } from '../db/directory/accounts.ts'
import { type FoundPage, MAX_DEPTH, type Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { member, said } from '../validation/fields.ts'
import { ReadMemory } from './memory.ts'
import type { AnswerSchema, DescribedOperation, Fixed, OperationWords } from './operation-words.ts'
import {
  linkTo,
  MAX_PER_PAGE,
  nextCursor,
  type PageQuery,
  pageMeta,
  readPage,
} from './pagination.ts'
import {
  checkPercentEncoding,
  invalidQuery,
  invalidValue,
  readChoice,
  readFlag,
  readQuery,
  VALID_DATE,
} from './query.ts'
import { notFound, readFields, readJson, validateFields } from './read-fields.ts'
import { sendJson } from './send.ts'

// An operation of the administration API is one value. Its route, its role, OpenAPI, the reference, the command and
// the types of the console follow from it.

/** Who calls an operation, and with what it works. */
export interface TeamCall {
  readonly env: Env
  /** The member of the team who calls; the audit log records it. */
  readonly actor: string
  readonly role: Role
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** The accounts that the calls of one page share, so that it reads each once. */
  readonly accounts?: ReadAccounts | undefined
}

/** A call that concerns an account. */
export interface AccountCall extends TeamCall {
  readonly account: Account
  /** The database of the account. */
  readonly db: D1Database
}

type Entries = v.ObjectEntries
/** No members. */
type None = Record<never, never>
type Out<E extends Entries> = v.InferOutput<v.ObjectSchema<E, undefined>>
type In<E extends Entries> = v.InferInput<v.ObjectSchema<E, undefined>>

/** The value of an answer. */
export type Answer<A> = A extends v.GenericSchema ? Fixed<v.InferOutput<A>> : null

declare const process: { readonly env: { readonly NODE_ENV?: string } }

/**
 * Returns what is told about operations: their words, and the schemas that only words use. A bundle for production
 * has nothing of it: esbuild drops the function. Of other constants it keeps what calls make, because it does not
 * know that functions of other files have no effects.
 */
export function described<T>(make: () => T): T {
  if (process.env.NODE_ENV === 'production') return undefined as never
  return make()
}

/** An operation. */
export interface Operation<
  P extends Entries,
  B extends Entries,
  A extends AnswerSchema,
  C extends TeamCall,
> extends DescribedOperation {
  readonly params: P
  readonly body: B
  readonly words: OperationWords<A> | undefined
  run(call: C, input: Read<P> & Out<B>): Promise<Answer<A> | Reply>
}

/** An answer with another status than is usual for its operation. */
class Reply {
  readonly status: 200 | 201 | 202
  readonly value: object

  constructor(status: Reply['status'], value: object) {
    this.status = status
    this.value = value
  }
}

/** Returns an answer with another status: 202 if it is not done yet, 200 or 201 if it was there or was not. */
export const reply = (status: Reply['status'], value: object): Reply => new Reply(status, value)

// biome-ignore lint/suspicious/noExplicitAny: lists hold operations of every type.
type Any = any

/** An operation of any type. */
export type AnyOperation = Operation<Any, Any, Any, Any>

/** The members of path and query as operations get them: those that are absent are left out. */
type Read<P extends Entries> = { [N in keyof Out<P>]: Exclude<Out<P>[N], undefined> }

/** The members of path and query; each may also be its text, as the query of a page has it. */
type Params<P extends Entries> = { [N in keyof In<P>]: In<P>[N] | string }

/** What a caller inside the Worker sends. */
export type InputOf<O> =
  O extends Operation<infer P, infer B, infer _A, infer C>
    ? Params<P> & In<B> & (C extends AccountCall ? { readonly account: string } : unknown)
    : never

/** What an operation answers. */
export type AnswerOf<O> =
  O extends Operation<infer _P, infer _B, infer A, infer _C> ? Answer<A> : never

type Draft<O> = Omit<O, 'params' | 'body'> &
  (O extends Operation<infer P, infer B, infer _A, infer _C>
    ? { readonly params?: P; readonly body?: B }
    : never)

/** Defines an operation of an account. */
export function accountOperation<
  const P extends Entries = None,
  const B extends Entries = None,
  const A extends AnswerSchema = null,
>(draft: Draft<Operation<P, B, A, AccountCall>>): Operation<P, B, A, AccountCall> {
  return complete({ ...draft, path: `/accounts/{account}${draft.path}` })
}

/** Defines an operation that concerns no account, or all. */
export function teamOperation<
  const P extends Entries = None,
  const B extends Entries = None,
  const A extends AnswerSchema = null,
>(draft: Draft<Operation<P, B, A, TeamCall>>): Operation<P, B, A, TeamCall> {
  return complete(draft)
}

const isOfAccount = ({ path }: Pick<AnyOperation, 'path'>) => path.startsWith('/accounts/{account}')

function complete<P extends Entries, B extends Entries, A extends AnswerSchema, C extends TeamCall>(
  draft: Draft<Operation<P, B, A, C>>,
): Operation<P, B, A, C> {
  const { params = {}, body = {} } = draft
  const names = [...Object.keys(params), ...(isOfAccount(draft) ? ['account'] : [])]
  const twice = names.find((name) => Object.hasOwn(body, name))
  if (twice) throw new Error(`${draft.id}: ${twice} is in two places.`)
  return { ...draft, params, body } as unknown as Operation<P, B, A, C>
}

/** The members of a query with which lists are read page by page. `readPage` reads them. */
export const PAGING = {
  page: v.optional(
    member(
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_DEPTH)),
      said(
        'The page number, from 1. `page` times `per_page` is at most 10,000; a cursor reads on. Do not combine it with `cursor`.',
        1,
      ),
    ),
  ),
  per_page: v.optional(
    member(
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_PER_PAGE)),
      said(
        'The number of rows on a page. Defaults to 50. A page holds at most 2 MiB: if the rows need more, the 400 response says how many fit.',
        100,
      ),
    ),
  ),
  cursor: v.optional(
    member(
      v.string(),
      said(
        'The `meta.next_cursor` of the previous page. Valid for the same account, resource and filters.',
      ),
    ),
  ),
}

const pageMetaSchema = described(() =>
  named(
    'Meta',
    v.object({
      total: v.number(),
      total_is_limited: v.exactOptional(v.literal(true)),
      page: v.number(),
      per_page: v.number(),
      next_cursor: v.nullable(v.string()),
    }),
  ),
)

/** Describes an object that has more members than another. */
export const withMembers = <const E extends Entries, const M extends Entries>(
  object: v.ObjectSchema<E, undefined>,
  more: M,
) => v.object({ ...object.entries, ...more })

type Present<E extends Entries> = {
  readonly [N in keyof E]: E[N] extends v.OptionalSchema<infer S, undefined> ? S : E[N]
}

/** Describes an answer that has all members of a body, also those that may be left out there. */
export const answered = <const E extends Entries>(
  body: E,
): v.ObjectSchema<Present<E>, undefined> => {
  const present = Object.entries<v.GenericSchema & { wrapped?: v.GenericSchema }>(body).map(
    ([name, schema]) => [name, schema.type === 'optional' ? schema.wrapped : schema],
  )
  return v.object(Object.fromEntries(present))
}

/** Refers to a schema that OpenAPI has without operations, by its name. */
export const referred = <T>(component: string) =>
  named(
    component,
    v.custom<T>(() => true, 'type object'),
  )

/** Describes one page of a list. */
export const pageOf = <const I extends v.GenericSchema>(item: I) =>
  v.object({ data: v.array(item), meta: pageMetaSchema })

/** Describes a list that is answered as a whole. */
export const listOf = <const I extends v.GenericSchema>(item: I) =>
  v.object({ data: v.array(item) })

interface ListDraft<I extends v.GenericSchema, P extends Entries, C extends TeamCall>
  extends Pick<AnyOperation, 'id' | 'topic' | 'path' | 'role' | 'byQuery'> {
  readonly params?: P
  /** The answer of the words is a row. */
  readonly words: OperationWords<I> | undefined
  list(call: C, filter: Read<P>, page: Page): Promise<FoundPage<Answer<I> & object>>
}

const listBy = <I extends v.GenericSchema, P extends Entries, C extends TeamCall>(
  { list, params = {} as P, words: ofItem, ...draft }: ListDraft<I, P, C>,
  accountOf: (call: C) => string | null,
) => ({
  ...draft,
  method: 'GET' as const,
  params: { ...params, ...PAGING },
  words: described(() => ofItem && { ...ofItem, answer: pageOf(ofItem.answer) }),
  async run(call: C, input: object) {
    const { page: number, per_page, cursor, ...filter } = input as PageQuery
    const context = JSON.stringify([accountOf(call), draft.id, filter])
    const page = await readPage(call.env, context, { page: number, per_page, cursor })
    const found = await list(call, filter as Read<P>, page)
    const next = await nextCursor(call.env, context, page, found)
    return { data: found.data, meta: pageMeta(page, found, next) } as never
  },
})

/** Defines an operation that lists rows of an account page by page. */
export const accountList = <const I extends v.GenericSchema, const P extends Entries = None>(
  draft: ListDraft<I, P, AccountCall>,
) => accountOperation(listBy(draft, ({ account }) => account.id))

/** Defines an operation that lists rows page by page, of no account or of all. */
export const teamList = <const I extends v.GenericSchema, const P extends Entries = None>(
  draft: ListDraft<I, P, TeamCall>,
) => teamOperation(listBy(draft, () => null))

/** Gives a schema the name that it has in OpenAPI. Where it is a part of others, they refer to it. */
export function named<const S extends v.GenericSchema>(component: string, schema: S): S {
  return { ...schema, component }
}

const wrappedBy = (schema: v.GenericSchema): v.GenericSchema =>
  'wrapped' in schema ? wrappedBy(schema.wrapped as v.GenericSchema) : schema

function invalidNumber(name: string, schema: v.GenericSchema, text: string) {
  const { pipe = [] } = schema as { pipe?: readonly { type: string; requirement?: unknown }[] }
  const bound = (type: string) => pipe.find((one) => one.type === type)?.requirement
  return invalidValue(name, text, `an integer from ${bound('min_value')} to ${bound('max_value')}`)
}

/** What is expected by rules whose messages do not say it. */
const EXPECTED: Readonly<Record<string, string>> = {
  date: VALID_DATE,
  date_time: 'an RFC 3339 date-time',
}

/** Returns the value of a parameter as its schema says. */
function readParam(
  { path }: AnyOperation,
  name: string,
  schema: v.GenericSchema,
  text: string,
): unknown {
  const inner = wrappedBy(schema)
  if (inner.type === 'boolean') return readFlag(name, text)
  if (inner.type === 'picklist')
    return readChoice(name, text, (inner as v.PicklistSchema<string[], undefined>).options)
  if (inner.type === 'number') {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (v.is(inner, number)) return number
    throw path.includes(`{${name}}`) ? notFound(name, text) : invalidNumber(name, inner, text)
  }
  const parsed = v.safeParse(inner, text)
  if (parsed.success) return parsed.output
  const [, rule = '', expected = EXPECTED[rule]] =
    /^(\w+)(?: (.+))?$/.exec(parsed.issues[0].message) ?? []
  throw invalidValue(name, text, expected ?? 'another value')
}

/** Returns the members of path and query, read as their schemas say. */
export function readParams(of: AnyOperation, sent: Readonly<Record<string, unknown>>) {
  const read: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries<v.GenericSchema>(of.params)) {
    const value = sent[name]
    const text = value === undefined ? '' : String(value)
    if (text !== '') read[name] = name in PAGING ? text : readParam(of, name, schema, text)
    else if (schema.type !== 'optional') throw invalidQuery(`\`${name}\` is required.`)
  }
  return read
}

/** Returns the call of an operation, with the account if it concerns one. */
async function callOf(of: AnyOperation, call: TeamCall, id: unknown): Promise<TeamCall> {
  if (!isOfAccount(of)) return call
  const name = String(id)
  const found = call.accounts?.get(name) ?? findAccount(call.env.DB, name)
  call.accounts?.set(name, found)
  const account = await found
  if (!account) throw notFound('account', name)
  return { ...call, account, db: resolveDatabase(call.env, account.binding) } as AccountCall
}

/**
 * Calls an operation from inside the Worker: what a request must pass is checked here, too.
 *
 * @throws ApiError that a request would be answered with.
 */
export async function perform<
  P extends Entries,
  B extends Entries,
  A extends AnswerSchema,
  C extends TeamCall,
>(
  of: Operation<P, B, A, C>,
  call: TeamCall,
  input: InputOf<Operation<P, B, A, C>>,
): Promise<Answer<A>> {
  requireRole(call.role, of.role ?? 'approver')
  const { account, ...others } = input as Readonly<Record<string, unknown>>
  const members = isOfAccount(of) ? others : (input as typeof others)
  const own = await callOf(of, call, account)
  // As in JSON, a member that is undefined is absent.
  const body = Object.entries(members).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(of.params, name),
  )
  const sent = Object.fromEntries(body)
  const fields = of.whole ? sent : validateFields(sent, of.body)
  const answer = await of.run(
    own as C,
    { ...readParams(of, members), ...fields } as Read<P> & Out<B>,
  )
  return answer instanceof Reply ? (answer.value as Answer<A>) : answer
}

/** The paths of an operation as Hono writes them: with `byQuery` a second one. */
export const pathsOf = ({ path, byQuery }: AnyOperation): readonly string[] =>
  byQuery ? [path, path.replace(`/{${byQuery}}`, '')] : [path]

/** Mounts operations: the only place that turns requests into calls. */
export function mount(
  app: Hono<AppEnv>,
  operations: readonly AnyOperation[],
  teamCallOf: (c: Context<AppEnv>) => TeamCall,
): void {
  for (const of of operations) {
    for (const path of pathsOf(of)) {
      app.on(of.method, path.replace(/\{(\w+)\}/g, ':$1'), async (c) => {
        const team = teamCallOf(c)
        requireRole(team.role, of.role ?? 'approver')
        checkPercentEncoding(new URL(c.req.url).pathname)
        const inPath: Record<string, string> = c.req.param()
        const names = Object.keys(of.params).filter((name) => !Object.hasOwn(inPath, name))
        const query = readQuery(c.req.url, ...names)
        const call = await callOf(of, team, inPath.account)
        const params = readParams(of, { ...query, ...inPath })
        const answer = await of.run(call, { ...params, ...(await bodyOf(c, of)) })
        return respond(c, of, answer)
      })
    }
  }
}

/** Returns the members of the body; the body itself as the only one if it is a whole. */
async function bodyOf(c: Context<AppEnv>, of: AnyOperation): Promise<object> {
  if (of.method === 'GET' || of.method === 'DELETE') return {}
  if (!of.whole) return readFields(c, of.body)
  const [name = ''] = Object.keys(of.body)
  return { [name]: await readJson(c, of.whole.depth) }
}

/** Responds with an answer, and with a `Link` to the next page of a list. */
function respond(
  c: Context<AppEnv>,
  of: AnyOperation,
  answer: object | null,
): Promise<Response> | Response {
  if (answer === null) return c.body(null, 204)
  if (answer instanceof Reply) return c.json(answer.value, answer.status)
  const { meta } = answer as { meta?: { next_cursor?: string | null; per_page?: number } }
  if (meta?.next_cursor && meta.per_page) linkTo(c, meta.next_cursor, meta.per_page)
  if (of.status && of.status !== 200) return c.json(answer, of.status)
  return sendJson(c, answer, new ReadMemory('the team'))
}
