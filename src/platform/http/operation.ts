import type { Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import * as v from 'valibot'
import type { AppEnv, ReadAffiliate } from '../auth/authorize.ts'
import { type Grant, grantOf } from '../auth/grant.ts'
import type { Member, Role, Shows } from '../auth/roles.ts'
import { accountDatabase, gathering } from '../db/database.ts'
import { type FoundPage, MAX_DEPTH, type Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { findAccount } from '../directory/accounts.ts'
import { hasAccount } from '../directory/members.ts'
import { ApiError } from '../errors.ts'
import { count } from '../validation/answer-fields.ts'
import { component, described, withMembers } from '../validation/described.ts'
import { exactOptional, member, nullable, optional, said } from '../validation/fields.ts'
import { readFileBody } from './body.ts'
import { ReadMemory } from './memory.ts'
import { oncePerRequest } from './once-per-request.ts'
import {
  type AnswerSchema,
  type CallerKind,
  type DescribedOperation,
  type Fixed,
  isFor,
  type OperationWords,
} from './operation-words.ts'
import {
  linkTo,
  MAX_PER_PAGE,
  nextCursor,
  type PageQuery,
  pageMeta,
  readPage,
  readWithin,
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
import { notFound, readCsv, readFields, readJson, validateFields } from './read-fields.ts'
import { type Own, requireMay, requireOwn, scopeOf, visibleTo } from './scope.ts'
import { showTo } from './show.ts'

// An operation is one value. Its routes, its role, OpenAPI, the reference, the command and the types of
// console and portal follow from it.

/** What operations are called with. */
interface Everything {
  readonly env: Env
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** Memoizes what several calls of one request or page compute. The key names the function and the account. */
  readonly once: <T>(key: string, make: () => Promise<T>) => Promise<T>
  /** Who calls, as the audit log names them: a member of the team, or an affiliate. */
  readonly actor: string
  /** The role of the member of the team who calls. */
  readonly role: Role
  /** The member of the team who calls, with what they and their key may do. */
  readonly member: Member
  /** The account that the call concerns. One that calls by itself is not read: its grant says all. */
  readonly account: Account
  /** The account, and who calls: the account itself, the team for it, or an affiliate. */
  readonly grant: Grant
  /** The database of the account. */
  readonly db: D1Database
  /** A session of it, which the calls of one page share. */
  readonly session: D1DatabaseSession
  /** The memory of the answer. */
  readonly memory: ReadMemory
  /** The affiliate who calls; absent if the account or the team does. */
  readonly affiliate?: ReadAffiliate | undefined
  /** Returns what a member of the team with own affiliates sees of an answer; absent if they have all. */
  readonly show?: (answer: object) => Promise<object>
}

/** What an operation is of: an account, an affiliate who calls, or the team, if it concerns no account or all. */
type Subject = DescribedOperation['of']

/** What only calls about an account have, and what only those have that no one but the team makes. */
type OfAccount = 'account' | 'grant' | 'db' | 'session' | 'memory' | 'affiliate'
type OfTeam = 'actor' | 'role' | 'member' | 'account'

/** The call of an operation, by what the operation is of, and by who may call it. */
export type Call<
  S extends Subject = 'account',
  K extends CallerKind = 'team',
> = S extends 'affiliate'
  ? Omit<Everything, 'role' | 'member' | 'account'> & { readonly affiliate: ReadAffiliate }
  : Omit<
      Everything,
      (S extends 'team' ? OfAccount : never) | ([K] extends ['team'] ? never : OfTeam)
    >

/** A call that reads what an account stores, for anyone who may. */
export type ReadCall = Call<'account', CallerKind>

/** The account that reads, and a session of its database. */
export type Reader = Pick<ReadCall, 'grant' | 'session'>

/** Who calls: a member of the team, or who is admitted with a grant. */
export type Caller = Pick<Everything, 'env' | 'waitUntil' | 'once'> &
  (
    | Pick<Everything, 'actor' | 'role' | 'member'>
    | (Pick<Everything, 'grant' | 'affiliate'> & Partial<Pick<Everything, 'actor'>>)
  )

type Entries = v.ObjectEntries
/** No members. */
type None = Record<never, never>
type Out<E extends Entries> = v.InferOutput<v.ObjectSchema<E, undefined>>
type In<E extends Entries> = v.InferInput<v.ObjectSchema<E, undefined>>

/** The value of an answer. */
export type Answer<A> = A extends v.GenericSchema ? Fixed<v.InferOutput<A>> : null

/** An operation. */
export interface Operation<
  P extends Entries,
  B extends Entries,
  A extends AnswerSchema,
  C extends object,
> extends DescribedOperation {
  readonly params: P
  readonly body: B
  readonly words: OperationWords<A> | undefined
  /**
   * Other formats of the answer, by media type: each responds if the request prefers it. `read` returns the answer as
   * the caller sees it.
   */
  readonly files?: Readonly<
    Record<
      string,
      (
        c: Context<AppEnv>,
        call: C,
        input: Read<P> & Out<B>,
        read: () => Promise<object>,
      ) => Promise<Response>
    >
  >
  /** Responds to the request itself, also while it is authorized, in place of `run`. */
  readonly handle?: (c: Context<AppEnv>, params: Read<P>) => Promise<Response>
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
export type Read<P extends Entries> = { [N in keyof Out<P>]: Exclude<Out<P>[N], undefined> }

/** The members of path and query; each may also be its text, as the query of a page has it. */
type Params<P extends Entries> = { [N in keyof In<P>]: In<P>[N] | string }

/** What a page of the console sends. */
export type InputOf<O> = OwnInput<O> & NamedAccount<O>

/** What a page of the portal sends: the account is that of its session. */
export type OwnInput<O> =
  O extends Operation<infer P, infer B, infer _A, infer _C> ? Params<P> & In<B> : never

type NamedAccount<O> =
  O extends Operation<infer _P, infer _B, infer _A, infer C>
    ? C extends { readonly grant: Grant }
      ? { readonly account: string }
      : unknown
    : never

/** What an operation answers. */
export type AnswerOf<O> =
  O extends Operation<infer _P, infer _B, infer A, infer _C> ? Answer<A> : never

/** What of an operation may be left out, and then is as comments say. */
type Defaulted = 'of' | 'role' | 'shows' | 'params' | 'body' | 'callers' | 'run'

/** What only operations that the team has declare, and all of them must. */
type Shown<S extends Subject, K extends CallerKind> = S extends 'affiliate'
  ? unknown
  : 'team' extends K
    ? { readonly shows: Shows }
    : unknown

interface Draft<
  P extends Entries,
  B extends Entries,
  A extends AnswerSchema,
  S extends Subject,
  K extends CallerKind,
> extends Omit<Operation<P, B, A, Call<S, K>>, Defaulted> {
  /** The account if absent. */
  readonly of?: S
  /** If absent, viewers may read, and only approvers may change. */
  readonly role?: Role
  readonly params?: P
  readonly body?: B
  /** The team alone if absent, or the affiliates of whom it is. */
  readonly callers?: readonly K[]
  /** Absent if it has `handle`, or answers with files alone. */
  run?(call: Call<S, K>, input: Read<P> & Out<B>): Promise<Answer<A> | Reply>
}

/** Stands for `run` of an operation that has none. */
const noJson = (): Promise<never> => Promise.reject(new Error('Only a request has this answer.'))

/** Defines an operation. The path of one of an account or an affiliate is below that of the account. */
export function operation<
  const P extends Entries = None,
  const B extends Entries = None,
  const A extends AnswerSchema = null,
  const S extends Subject = 'account',
  const K extends CallerKind = 'team',
>(draft: Draft<P, B, A, S, K> & Shown<S, K>): Operation<P, B, A, Call<S, K>> {
  return complete(draft)
}

function complete(draft: Any): AnyOperation {
  const { of = 'account', method, path, params = {}, body = {} } = draft
  const names = [...Object.keys(params), ...(of === 'team' ? [] : ['account'])]
  const twice = names.find((name) => Object.hasOwn(body, name))
  if (twice) throw new Error(`${draft.id}: ${twice} is in two places.`)
  return {
    of,
    role: method === 'GET' ? 'viewer' : 'approver',
    callers: [of === 'affiliate' ? of : 'team'],
    run: noJson,
    ...draft,
    path: of === 'team' ? path : `/accounts/{account}${path}`,
    params,
    body,
  }
}

const perPage = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_PER_PAGE))

/** The members of a query with which lists are read page by page. `readPage` reads them. */
export const PAGING = {
  page: optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_DEPTH)),
    said(
      'The page number, from 1. `page` times `per_page` is at most 10,000; a cursor reads on. Do not combine it with `cursor`.',
      1,
    ),
  ),
  per_page: optional(
    perPage,
    said(
      'The number of rows on a page. Defaults to 50. A page holds at most 2 MiB: if the rows need more, the 400 response says how many fit.',
      100,
    ),
  ),
  cursor: optional(
    v.string(),
    said(
      'The `meta.next_cursor` of the previous page. Valid for the same account, resource and filters.',
    ),
  ),
}

const pageMetaSchema = component('Meta', () => ({
  total: member(
    count,
    'The number of rows that match the filter. A filtered list counts them for the first page; the pages after a cursor repeat the number.',
  ),
  total_is_limited: exactOptional(
    v.literal(true),
    'Present if more rows match than are counted: `total` is then at most 100,000.',
  ),
  page: member(
    v.pipe(count, v.minValue(1)),
    'The page number, from 1. It increases with a cursor, too.',
  ),
  per_page: member(perPage, 'The size of a page.'),
  next_cursor: nullable(v.string(), 'The `cursor` of the next page. Null on the last page.'),
}))

/** Describes one page of a list. */
export const pageOf = <const I extends v.GenericSchema>(item: I) =>
  v.object({ data: v.array(item), meta: pageMetaSchema })

type Listed = 'id' | 'topic' | 'path' | 'of' | 'role' | 'callers' | 'except' | 'files'

interface ListDraft<
  I extends v.GenericSchema,
  P extends Entries,
  M extends Entries,
  S extends Subject,
  K extends CallerKind,
> extends Pick<Draft<P, None, null, S, K>, Listed> {
  readonly params?: P
  /** The answer of the words is a row; `more` are members beside `data` and `meta`. */
  readonly words: (OperationWords<I> & { readonly more?: M }) | undefined
  list(
    call: Call<S, K>,
    filter: Read<P>,
    page: Page,
  ): Promise<
    FoundPage<Answer<I> & object> &
      ([keyof M] extends [never] ? unknown : { readonly more: Fixed<Out<M>> })
  >
}

/** The answer of a list of items, with members beside `data` and `meta`. */
const answerOf = <const I extends v.GenericSchema, const M extends Entries>(
  item: I,
  more: M | undefined,
) => withMembers(pageOf(item), more as M)

/** Defines an operation that lists rows page by page. */
export function list<
  const I extends v.GenericSchema,
  const P extends Entries = None,
  const M extends Entries = None,
  const S extends Subject = 'account',
  const K extends CallerKind = 'team',
>({
  list: read,
  words: ofItem,
  ...draft
}: ListDraft<I, P, M, S, K> & Shown<S, K>): Operation<
  P & typeof PAGING,
  None,
  ReturnType<typeof answerOf<I, M>>,
  Call<S, K>
> {
  return complete({
    ...draft,
    method: 'GET',
    params: { ...draft.params, ...PAGING },
    words: described(() => ofItem && { ...ofItem, answer: answerOf(ofItem.answer, ofItem.more) }),
    async run(call: Any, input: object) {
      const { context, page, filter } = await pageOfQuery(call, draft.id, input)
      const one = (bounded: Page) => read(call, filter as Read<P>, bounded)
      // A page of the console that is left would keep its memory for a minute, and the next one would wait.
      const found = await ('role' in call ? one(page) : readWithin(call.memory, page, one))
      const next = await nextCursor(call.env, context, page, found)
      const { more } = found as { more?: object }
      return { data: found.data, meta: pageMeta(page, found, next), ...more }
    },
  })
}

/**
 * Returns the page of a list that a request asks for, and its other parameters. The cursors of a list are issued for a
 * caller.
 */
export async function pageOfQuery(
  { env, grant }: Pick<Everything, 'env'> & Partial<Pick<Everything, 'grant'>>,
  id: string,
  input: object,
) {
  const { page: number, per_page, cursor, ...filter } = input as PageQuery
  const context = JSON.stringify([grant?.account, grant?.affiliate?.id, id, filter])
  const page = await readPage(env, context, { page: number, per_page, cursor })
  return { context, page, filter }
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

/** Returns an account, which what one page reads shares; null if there is none. */
export const accountOnce = ({ env, once }: Caller, name: string): Promise<Account | null> =>
  once(`account ${name}`, () => findAccount(env.DB, name))

async function readAccount({ method }: AnyOperation, caller: Caller, name: string) {
  if ('member' in caller && !hasAccount(caller.member, name)) return null
  return method === 'GET' ? accountOnce(caller, name) : findAccount(caller.env.DB, name)
}

/** What an operation is asked for. The input of a request is read once it is admitted. */
interface Asked {
  readonly account: string
  readonly input: () => object | Promise<object>
}

/**
 * Makes the call of an operation, with what the scope of a member of the team says. They name the account.
 */
async function within<T>(
  of: AnyOperation,
  caller: Caller,
  { account: name, input: read }: Asked,
  use: (call: Any, input: Any) => Promise<T>,
): Promise<T> {
  if (!('member' in caller)) return inSession(caller, async (call) => use(call, await read()))
  const account = name === '' ? null : await readAccount(of, caller, name)
  if (of.of !== 'team' && !account) throw notFound('account', name)
  const { env, own } = await scopeOf(of, caller, account)
  const call = { ...caller, env, ...(own && ofOwn(caller, own)) }
  const enter = async (entered: object) => {
    const input = await read()
    if (own && of.method !== 'GET' && !of.adds) requireOwn(own, input)
    return use(entered, input)
  }
  if (of.of === 'team' || !account) return enter(call)
  return inSession({ ...call, account, grant: grantOf(account, null, 'read') }, enter)
}

/** Returns what a call has of its own whose member has own affiliates: other calls of the page read more. */
const ofOwn = ({ once }: Caller, own: Own): Pick<Everything, 'once' | 'show'> => ({
  once: (key, make) => once(`own ${key}`, make),
  show: async (answer) => visibleTo(own, answer),
})

/** Adds a session of the account's database to a call, and memory that is released at its end. */
async function inSession<C extends Pick<Everything, 'env' | 'once' | 'grant'>, T>(
  caller: C,
  use: (call: Any) => Promise<T>,
): Promise<T> {
  const { account, binding, affiliate } = caller.grant
  const db = accountDatabase(caller.env, { id: account, binding })
  const session = await caller.once(`session ${account}`, async () =>
    gathering(db.withSession('first-primary')),
  )
  const memory = new ReadMemory(account, affiliate)
  try {
    return await use({ ...caller, db, session, memory })
  } finally {
    memory.release()
  }
}

/**
 * Calls an operation from a page: what a request must pass is checked here, too. Returns what the caller sees of the
 * answer.
 *
 * @throws ApiError that a request would be answered with.
 */
export async function perform<O extends AnyOperation>(
  of: O,
  caller: Caller,
  input: OwnInput<O>,
): Promise<AnswerOf<O>> {
  return within(of, caller, readAsked(of, caller, input), async (call, sent) => {
    const answer = await of.run(call, sent)
    const value = answer instanceof Reply ? answer.value : answer
    const { show } = call.affiliate ?? call
    return show && value ? show(value) : value
  })
}

/** The most rows of a list that a page sends as one file: they are all in memory. */
const MAX_FILE_ROWS = 50_000

/**
 * Returns the answer of an operation; of a list with the rows of all its pages.
 *
 * @throws ApiError `invalid_query` if they are too many.
 */
async function wholeAnswer(of: AnyOperation, call: Any, input: object): Promise<Any> {
  const answer = await of.run(call, input)
  for (let cursor = answer.meta?.next_cursor; cursor; ) {
    const { data, meta } = await of.run(call, { ...input, cursor })
    answer.data.push(...data)
    cursor = meta.next_cursor
    if (answer.data.length > MAX_FILE_ROWS) {
      const most = MAX_FILE_ROWS.toLocaleString('en')
      throw invalidQuery(`One file has at most ${most} rows, and this list has more. Narrow it.`)
    }
  }
  return answer
}

/**
 * Responds to a page with another format of an answer, by its media type; of a list with all its rows.
 *
 * @throws ApiError that a request would be answered with.
 */
export async function performFile<O extends AnyOperation>(
  c: Context<AppEnv>,
  of: O,
  caller: Caller,
  { type, input }: { type: string; input: OwnInput<O> },
): Promise<Response> {
  const file = of.files?.[type]
  if (!file) throw new Error(`${of.id} has no ${type}.`)
  return within(of, caller, readAsked(of, caller, input), (call, sent) => {
    c.set('affiliate', call.affiliate)
    c.set('show', call.show)
    return file(c, call, sent, async () => showTo(c, await wholeAnswer(of, call, sent)))
  })
}

/**
 * Reads what a page asks for: the account, and the input of an operation. As in JSON, a member that is undefined is
 * absent.
 */
function readAsked(of: AnyOperation, caller: Caller, asked: object) {
  const kind = 'member' in caller ? 'team' : 'affiliate'
  if (!isFor(of, kind)) throw new ApiError('not_found')
  if ('member' in caller) requireMay(of, caller.member)
  const { account, ...others } = asked as Readonly<Record<string, unknown>>
  const members = of.of === 'team' ? (asked as typeof others) : others
  const sent = Object.entries(members).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(of.params, name),
  )
  const body = Object.fromEntries(sent)
  const fields = of.whole ? body : validateFields(body, of.body)
  const input = { ...readParams(of, members), ...fields }
  return { account: String(account ?? ''), input: () => input }
}

/** Returns the path of an operation below that of the account. */
const ownPath = (path: string) => path.replace('/accounts/{account}', '')

const honoPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

/** Returns the names of the parameters that a caller has, in path and query. */
export const namesFor = ({ params, except }: AnyOperation, caller: CallerKind): readonly string[] =>
  Object.keys(params).filter((name) => !except?.[caller]?.includes(name))

/** Returns the members of path and query of a request. */
function readRequest(c: Context<AppEnv>, of: AnyOperation, caller: CallerKind) {
  checkPercentEncoding(new URL(c.req.url).pathname)
  const inPath: Record<string, string> = c.req.param()
  const names = namesFor(of, caller).filter((name) => !Object.hasOwn(inPath, name))
  const query = readQuery(c.req.url, ...names)
  return readParams(of, { ...query, ...inPath })
}

/** Returns who makes a request, once they are admitted. */
const callerOf = (c: Context<AppEnv>): Caller => {
  const { grant, affiliate, actor, role, member } = c.var
  const page = { env: c.env, ...pageOfRequest(c), actor }
  return { ...page, ...(grant ? { grant, affiliate } : { role, member }) }
}

/** Mounts the operations that a caller has: the place where requests become calls. */
export function mount(
  app: Hono<AppEnv>,
  operations: readonly AnyOperation[],
  kind: CallerKind,
): void {
  for (const of of operations.filter((one) => isFor(one, kind))) {
    const path = kind === 'team' ? of.path : ownPath(of.path)
    app.on(of.method, honoPath(path), async (c) => {
      if (kind === 'team') requireMay(of, c.var.member)
      const params = readRequest(c, of, kind)
      if (of.handle) return of.handle(c, params)
      const { account = String(params.account ?? '') }: { account?: string } = c.req.param()
      const input = async () => ({ ...params, ...(await bodyOf(c, of)) })
      return within(of, callerOf(c), { account, input }, async (call, sent) => {
        c.set('grant', call.grant)
        c.set('show', call.show)
        return respond(c, of, call, sent)
      })
    })
  }
}

/** Returns what the calls of one request share. */
export const pageOfRequest = (c: Context): Pick<Call, 'waitUntil' | 'once'> => ({
  waitUntil: (promise) => c.executionCtx.waitUntil(promise),
  once: (key, make) => oncePerRequest(c, key, make),
})

/** Returns the members of the body; the body itself as the only one if it is a whole. */
async function bodyOf(c: Context<AppEnv>, of: AnyOperation): Promise<object> {
  if (of.method === 'GET' || of.method === 'DELETE') return {}
  if (!of.whole) return readFields(c, of.body)
  if (of.body.csv) return { csv: await readCsv(c) }
  if (of.maxBytes) return { file: await readFileBody(c.req.raw, of.maxBytes) }
  const [name = ''] = Object.keys(of.body)
  return { [name]: await readJson(c) }
}

/** Returns an answer after it has added a `Link` to the next page of a list. */
function linked<T extends object>(c: Context<AppEnv>, answer: T): T {
  const { meta } = answer as { meta?: { next_cursor?: string | null; per_page?: number } }
  if (meta?.next_cursor) linkTo(c, meta.next_cursor, meta.per_page)
  return answer
}

/** Responds with the answer of an operation, in the format that the request prefers. */
async function respond(c: Context<AppEnv>, of: AnyOperation, call: Any, input: object) {
  const { files = {} } = of
  const json = of.run === noJson ? [] : ['application/json']
  const types = [...json, ...Object.keys(files)] as [string, ...string[]]
  const file = files[accepts(c, { header: 'Accept', supports: types, default: types[0] })]
  const run = () => of.run(call, input)
  if (file) return file(c, call, input, async () => showTo(c, linked(c, await run())))
  const answer = await run()
  if (answer === null) return c.body(null, 204)
  if (answer instanceof Reply) return c.json(await showTo(c, answer.value), answer.status)
  return c.json(await showTo(c, linked(c, answer)), of.status ?? 200)
}
