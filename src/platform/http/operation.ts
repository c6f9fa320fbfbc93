import type { Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import * as v from 'valibot'
import type { AppEnv, ReadAffiliate } from '../auth/authorize.ts'
import { type CallingAffiliate, type Grant, grantOf } from '../auth/grant.ts'
import { type Role, requireRole } from '../auth/roles.ts'
import { accountDatabase, gathering } from '../db/database.ts'
import { type FoundPage, MAX_DEPTH, type Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { findAccount } from '../directory/accounts.ts'
import { count } from '../validation/answer-fields.ts'
import { described, named, withMembers } from '../validation/described.ts'
import { member, said } from '../validation/fields.ts'
import { readFileBody } from './body.ts'
import { ReadMemory } from './memory.ts'
import { oncePerRequest } from './once-per-request.ts'
import {
  type AnswerSchema,
  type CallerKind,
  type DescribedOperation,
  type FileWords,
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
import { showTo } from './show.ts'

// An operation is one value. Its routes, its role, OpenAPI, the reference, the command and the types of
// console and portal follow from it.

/** What each call has. */
export interface Call {
  readonly env: Env
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** Memoizes what several calls of one request or page compute. The key names the function and the account. */
  readonly once: <T>(key: string, make: () => Promise<T>) => Promise<T>
}

/** Who of the team calls an operation, and with what it works. */
export interface TeamCall extends Call {
  /** The member of the team who calls; the audit log records it. */
  readonly actor: string
  readonly role: Role
}

/** A call that reads what an account stores, in one session of its database. */
export interface ReadCall extends Call {
  /** The account that is read, and who calls: the account itself, the team for it, or an affiliate. */
  readonly grant: Grant
  readonly session: D1DatabaseSession
  /** The memory of the answer. */
  readonly memory: ReadMemory
  /** The affiliate who calls; absent if the account or the team does. */
  readonly affiliate?: ReadAffiliate | undefined
}

/** The account that reads, and a session of its database. */
export type Reader = Pick<ReadCall, 'grant' | 'session'>

/** A call of an affiliate. */
export interface AffiliateCall extends ReadCall {
  readonly affiliate: ReadAffiliate & CallingAffiliate
  /** Who makes a change, for the audit log. */
  readonly actor: string
  /** The database of the account. */
  readonly db: D1Database
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

/** An operation. */
export interface Operation<
  P extends Entries,
  B extends Entries,
  A extends AnswerSchema,
  C extends Call,
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
  /** Responds to the request itself, in place of `run`. */
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

/** What a caller inside the Worker sends. */
export type InputOf<O> =
  O extends Operation<infer P, infer B, infer _A, infer C>
    ? Params<P> & In<B> & (C extends AffiliateCall ? unknown : OfAccount<C>)
    : never

/** What a page of the portal sends: the account is that of its session. */
export type OwnInput<O> =
  O extends Operation<infer P, infer B, infer _A, infer _C> ? Params<P> & In<B> : never

type OfAccount<C> = C extends AccountCall | ReadCall ? { readonly account: string } : unknown

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

/**
 * Defines an operation that reads what an account stores. Without `callers`, only the team has it, in the role of a
 * viewer. Its path is below that of the account.
 */
export function readOperation<
  const P extends Entries = None,
  const B extends Entries = None,
  const A extends AnswerSchema = null,
>(draft: Draft<Operation<P, B, A, ReadCall>>): Operation<P, B, A, ReadCall> {
  return complete({
    role: 'viewer',
    callers: ['team'],
    ...draft,
    path: `/accounts/{account}${draft.path}`,
  })
}

/** Stands for `run` of an operation that responds by itself, or whose only answer is a file. */
export const noJson = (): Promise<never> =>
  Promise.reject(new Error('Only a request has this answer.'))

/** Defines an operation that responds to requests itself, also while they are authorized. */
export const handledOperation = <
  const P extends Entries = None,
  const B extends Entries = None,
  const A extends AnswerSchema = null,
>(
  draft: Omit<Draft<Operation<P, B, A, ReadCall>>, 'run'> & {
    handle(c: Context<AppEnv>, params: Read<P>): Promise<Response>
  },
): AnyOperation & Required<Pick<AnyOperation, 'handle'>> =>
  complete<P, B, A, ReadCall>({ ...draft, run: noJson } as never) as never

/** Defines an operation that reads what an account stores, and whose answer is a file of one media type. */
export const readFile = <const P extends Entries = None>({
  type,
  respond,
  words: ofFile,
  ...draft
}: Pick<Operation<P, None, null, ReadCall>, 'id' | 'topic' | 'path' | 'callers' | 'params'> & {
  readonly type: string
  readonly words:
    | (Omit<OperationWords<null>, 'answer' | 'files'> & { readonly file: FileWords })
    | undefined
  respond(c: Context<AppEnv>, call: ReadCall, input: Read<P>): Promise<Response>
}) =>
  readOperation<P>({
    ...draft,
    method: 'GET',
    words: described(() => ofFile && { ...ofFile, answer: null, files: { [type]: ofFile.file } }),
    files: { [type]: respond },
    run: noJson,
  } as never)

/** Defines an operation that only affiliates have. */
export function affiliateOperation<
  const P extends Entries = None,
  const B extends Entries = None,
  const A extends AnswerSchema = null,
>(draft: Draft<Operation<P, B, A, AffiliateCall>>): Operation<P, B, A, AffiliateCall> {
  return complete({ ...draft, callers: ['affiliate'], path: `/accounts/{account}${draft.path}` })
}

const isOfAccount = ({ path }: Pick<AnyOperation, 'path'>) => path.startsWith('/accounts/{account}')

function complete<P extends Entries, B extends Entries, A extends AnswerSchema, C extends Call>(
  draft: Draft<Operation<P, B, A, C>>,
): Operation<P, B, A, C> {
  const { params = {}, body = {} } = draft
  const names = [...Object.keys(params), ...(isOfAccount(draft) ? ['account'] : [])]
  const twice = names.find((name) => Object.hasOwn(body, name))
  if (twice) throw new Error(`${draft.id}: ${twice} is in two places.`)
  return { ...draft, params, body } as unknown as Operation<P, B, A, C>
}

const perPage = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_PER_PAGE))

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
      perPage,
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
      total: member(
        count,
        'The number of rows that match the filter. A filtered list counts them for the first page; the pages after a cursor repeat the number.',
      ),
      total_is_limited: v.exactOptional(
        member(
          v.literal(true),
          'Present if more rows match than are counted: `total` is then at most 100,000.',
        ),
      ),
      page: member(
        v.pipe(count, v.minValue(1)),
        'The page number, from 1. It increases with a cursor, too.',
      ),
      per_page: member(perPage, 'The size of a page.'),
      next_cursor: v.nullable(
        member(v.string(), 'The `cursor` of the next page. Null on the last page.'),
      ),
    }),
  ),
)

/** Describes one page of a list. */
export const pageOf = <const I extends v.GenericSchema>(item: I) =>
  v.object({ data: v.array(item), meta: pageMetaSchema })

type Listed = 'id' | 'topic' | 'path' | 'role' | 'callers' | 'except' | 'files'

interface ListDraft<
  I extends v.GenericSchema,
  P extends Entries,
  C extends Call,
  M extends Entries = None,
> extends Pick<Operation<P, None, null, C>, Listed> {
  readonly params?: P
  /** The answer of the words is a row; `more` are members beside `data` and `meta`. */
  readonly words: (OperationWords<I> & { readonly more?: M }) | undefined
  list(
    call: C,
    filter: Read<P>,
    page: Page,
  ): Promise<
    FoundPage<Answer<I> & object> &
      ([keyof M] extends [never] ? unknown : { readonly more: Fixed<Out<M>> })
  >
}

const listBy = <
  I extends v.GenericSchema,
  P extends Entries,
  C extends Call,
  M extends Entries = None,
>(
  { list, params = {} as P, words: ofItem, ...draft }: ListDraft<I, P, C, M>,
  readerOf: (call: C) => unknown,
) => ({
  ...draft,
  method: 'GET' as const,
  params: { ...params, ...PAGING },
  words: described(
    () => ofItem && { ...ofItem, answer: withMembers(pageOf(ofItem.answer), ofItem.more as M) },
  ),
  async run(call: C, input: object) {
    const { context, page, filter } = await pageOfQuery(call, draft.id, input, readerOf(call))
    const read = (bounded: Page) => list(call, filter as Read<P>, bounded)
    const found = await ('memory' in call
      ? readWithin(call.memory as ReadMemory, page, read)
      : read(page))
    const next = await nextCursor(call.env, context, page, found)
    const { more } = found as { more?: object }
    return { data: found.data, meta: pageMeta(page, found, next), ...more } as never
  },
})

/** Returns the page that a query asks for, its other parameters, and what its cursors are issued for. */
async function pageOfQuery({ env }: Call, id: string, input: object, reader: unknown) {
  const { page: number, per_page, cursor, ...filter } = input as PageQuery
  const context = JSON.stringify([reader, id, filter])
  const page = await readPage(env, context, { page: number, per_page, cursor })
  return { context, page, filter }
}

/** Defines an operation that lists rows of an account page by page. */
export const accountList = <const I extends v.GenericSchema, const P extends Entries = None>(
  draft: ListDraft<I, P, AccountCall>,
) => accountOperation(listBy(draft, ({ account }) => account.id))

const readerOf = ({ grant: { account, affiliate } }: ReadCall) => [account, affiliate?.id]

/**
 * Returns the page of a list that a request asks for, for another format than JSON: what its cursors are issued for,
 * and its rows.
 */
export const pageOfList = (call: ReadCall, { id }: AnyOperation, input: object) =>
  pageOfQuery(call, id, input, readerOf(call))

/** Defines an operation that lists what an account stores page by page. */
export const readList = <
  const I extends v.GenericSchema,
  const P extends Entries = None,
  const M extends Entries = None,
>(
  draft: ListDraft<I, P, ReadCall, M>,
) => readOperation(listBy(draft, readerOf))

/** Defines a list that only affiliates have. */
export const affiliateList = <
  const I extends v.GenericSchema,
  const P extends Entries = None,
  const M extends Entries = None,
>(
  draft: ListDraft<I, P, AffiliateCall, M>,
) => affiliateOperation(listBy(draft, readerOf))

/** Defines an operation that lists rows page by page, of no account or of all. */
export const teamList = <const I extends v.GenericSchema, const P extends Entries = None>(
  draft: ListDraft<I, P, TeamCall>,
) => teamOperation(listBy(draft, () => null))

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
  const account = await readAccount(of, call, String(id))
  return { ...call, account, db: accountDatabase(call.env, account) } as AccountCall
}

/** Returns an account, which what one page reads shares; null if there is none. */
export const accountOnce = ({ env, once }: TeamCall, name: string): Promise<Account | null> =>
  once(`account ${name}`, () => findAccount(env.DB, name))

async function readAccount(
  { method }: AnyOperation,
  call: TeamCall,
  name: string,
): Promise<Account> {
  const account = await (method === 'GET'
    ? accountOnce(call, name)
    : findAccount(call.env.DB, name))
  if (!account) throw notFound('account', name)
  return account
}

/** Returns whether an operation reads in a session of the account's database, for whom it has a grant. */
const reads = (of: AnyOperation): boolean => of.callers !== undefined && isOfAccount(of)

/**
 * Calls an operation from inside the Worker: what a request must pass is checked here, too.
 *
 * @throws ApiError that a request would be answered with.
 */
export async function perform<
  P extends Entries,
  B extends Entries,
  A extends AnswerSchema,
  C extends Call,
>(
  of: Operation<P, B, A, C>,
  call: TeamCall,
  input: InputOf<Operation<P, B, A, C>>,
): Promise<Answer<A>> {
  requireRoleFor(of, call.role)
  const { account, ...others } = input as Readonly<Record<string, unknown>>
  if (!reads(of)) {
    const members = isOfAccount(of) ? others : (input as typeof others)
    return runWith(of, (await callOf(of, call, account)) as Call as C, members)
  }
  return performAs(of, await grantedBy(of, call, account), others)
}

/** Refuses a member whose role does not allow an operation, which it names: `approve statement`. */
const requireRoleFor = ({ id, role: needed = 'approver' }: AnyOperation, role: Role): void =>
  requireRole(
    role,
    needed,
    id.replaceAll(/[A-Z]+/g, (text) => ` ${text.toLowerCase()}`),
  )

/** Returns a call of the team with the grant for an account. */
async function grantedBy(of: AnyOperation, call: TeamCall, account: unknown) {
  const found = await readAccount(of, call, String(account))
  return { ...call, grant: grantOf(found, null, 'read') }
}

/**
 * Responds to a page with another format of an answer, by its media type.
 *
 * @throws ApiError that a request would be answered with.
 */
export async function performFile<P extends Entries, B extends Entries, A extends AnswerSchema>(
  c: Context<AppEnv>,
  of: Operation<P, B, A, ReadCall>,
  call: TeamCall,
  { type, input }: { type: string; input: InputOf<Operation<P, B, A, ReadCall>> },
): Promise<Response> {
  requireRoleFor(of, call.role)
  const { account, ...members } = input as Readonly<Record<string, unknown>>
  return fileAs(c, of, await grantedBy(of, call, account), { type, members })
}

/** Responds with another format of an answer to who is admitted with a grant. */
export async function fileAs(
  c: Context<AppEnv>,
  of: AnyOperation,
  general: Omit<ReadCall, 'session' | 'memory'>,
  { type, members }: { type: string; members: Readonly<Record<string, unknown>> },
): Promise<Response> {
  const file = of.files?.[type]
  if (!file) throw new Error(`${of.id} has no ${type}.`)
  const input = inputOf(of, members)
  return inSession(general, (call) =>
    file(c, call, input, async () => showTo(c, await of.run(call, input))),
  )
}

/** Calls a function with a session of the account's database, and with memory that is released at its end. */
async function inSession<T>(
  general: Omit<ReadCall, 'session' | 'memory'>,
  use: (call: ReadCall) => Promise<T>,
): Promise<T> {
  const { env, grant, affiliate } = general
  const memory = new ReadMemory(grant.account, affiliate)
  const db = accountDatabase(env, { id: grant.account, binding: grant.binding })
  const session = await general.once(`session ${grant.account}`, async () =>
    gathering(db.withSession('first-primary')),
  )
  const call = { ...general, db, session, memory }
  try {
    return await use(call)
  } finally {
    memory.release()
  }
}

/**
 * Calls an operation that reads, or that affiliates have, for who is admitted with a grant. Returns what they see of
 * the answer.
 */
export async function performAs<A extends AnswerSchema>(
  of: Operation<Any, Any, A, Any>,
  call: Omit<ReadCall, 'session' | 'memory'>,
  members: Readonly<Record<string, unknown>>,
): Promise<Answer<A>> {
  const { affiliate } = call
  return inSession(call, async (own) => {
    const answer = await runWith(of, own, members)
    const isShown = !affiliate || answer === null
    return isShown ? answer : ((await affiliate.show(answer as object)) as Answer<A>)
  })
}

async function runWith<A extends AnswerSchema>(
  of: Operation<Any, Any, A, Any>,
  call: Call,
  members: Readonly<Record<string, unknown>>,
): Promise<Answer<A>> {
  const answer = await of.run(call, inputOf(of, members))
  return answer instanceof Reply ? (answer.value as Answer<A>) : answer
}

/** Returns the input of an operation, validated. As in JSON, a member that is undefined is absent. */
function inputOf(of: AnyOperation, members: Readonly<Record<string, unknown>>) {
  const body = Object.entries(members).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(of.params, name),
  )
  const sent = Object.fromEntries(body)
  const fields = of.whole ? sent : validateFields(sent, of.body)
  return { ...readParams(of, members), ...fields }
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

/** Mounts the operations of the team: one of the two places that turn requests into calls. */
export function mount(
  app: Hono<AppEnv>,
  operations: readonly AnyOperation[],
  teamCallOf: (c: Context<AppEnv>) => TeamCall,
): void {
  for (const of of operations.filter((one) => isFor(one, 'team'))) {
    app.on(of.method, honoPath(of.path), async (c) => {
      const team = teamCallOf(c)
      requireRoleFor(of, team.role)
      const params = readRequest(c, of, 'team')
      const { account = '' }: { account?: string } = c.req.param()
      if (!reads(of)) {
        const call = await callOf(of, team, account)
        const answer = await of.run(call, { ...params, ...(await bodyOf(c, of)) })
        return respond(c, of, answer)
      }
      c.set('grant', grantOf(await readAccount(of, team, account), null, 'read'))
      return respondToReader(c, of, params, team)
    })
  }
}

/** Mounts operations for who is admitted by a grant: an account, or an affiliate. */
export function mountFor(
  app: Hono<AppEnv>,
  operations: readonly AnyOperation[],
  caller: 'account' | 'affiliate',
): void {
  for (const of of operations.filter((one) => isFor(one, caller))) {
    app.on(of.method, honoPath(ownPath(of.path)), (c) => {
      const params = readRequest(c, of, caller)
      if (of.handle) return of.handle(c, params)
      const call = { env: c.env, ...pageOfRequest(c) }
      return respondToReader(c, of, params, call)
    })
  }
}

/** Returns what the calls of one request share. */
export const pageOfRequest = (c: Context): Pick<Call, 'waitUntil' | 'once'> => ({
  waitUntil: (promise) => c.executionCtx.waitUntil(promise),
  once: (key, make) => oncePerRequest(c, key, make),
})

/** Runs an operation in a session of the account's database, once the caller is admitted. */
async function respondToReader(
  c: Context<AppEnv>,
  of: AnyOperation,
  params: object,
  general: Call,
): Promise<Response> {
  const { grant } = c.var
  const affiliate = grant.affiliate && { ...c.var.affiliate, ...grant.affiliate }
  const admitted = { actor: c.var.actor, ...general, grant, affiliate: affiliate as ReadAffiliate }
  return inSession(admitted, async (call) => {
    const input = { ...params, ...(await bodyOf(c, of)) }
    const files = of.files ?? {}
    const json = of.run === noJson ? [] : ['application/json']
    const types = [...json, ...Object.keys(files)] as [string, ...string[]]
    const file = files[accepts(c, { header: 'Accept', supports: types, default: types[0] })]
    const run = () => of.run(call, input)
    if (file) return file(c, call, input, async () => showTo(c, linked(c, await run())))
    return respond(c, of, await run())
  })
}

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

/** Responds with an answer. */
async function respond(
  c: Context<AppEnv>,
  of: AnyOperation,
  answer: object | null,
): Promise<Response> {
  if (answer === null) return c.body(null, 204)
  if (answer instanceof Reply) return c.json(await showTo(c, answer.value), answer.status)
  return c.json(await showTo(c, linked(c, answer)), of.status ?? 200)
}
