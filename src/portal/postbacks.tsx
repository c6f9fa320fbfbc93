import type { Context } from 'hono'
import {
  changePostback,
  createPostback,
  deletePostback,
  listPostbackAttempts,
  listPostbacks,
  replayPostback,
  testPostback,
} from '../affiliate/postbacks.ts'
import type { AppEnv } from '../auth/authorize.ts'
import type { Values } from '../console/page.ts'
import { respond } from '../console/respond.ts'
import { DAY_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import type { AnswerOf } from '../http/operation.ts'
import { POSTBACK_EVENTS, type PostbackEvent } from '../webhooks/events.ts'
import { WEBHOOK_LIMITS } from '../webhooks/limits.ts'
import { MACROS } from '../webhooks/macros.ts'
import { Copied, keepSecret, MemberForm, type Refused, takeSecret } from './form.tsx'
import { Problem, portalPath } from './layout.tsx'
import { MemberPage, timeText } from './member-page.tsx'
import { readMemberForm } from './sign-in.tsx'
import type { MemberVisit } from './visit.ts'
import { fill, type Words } from './words.ts'

const AT = '/postbacks'

/** The attempts that the page shows of a postback. */
const SHOWN_ATTEMPTS = 20

type Postback = AnswerOf<typeof changePostback>
type Attempt = AnswerOf<typeof listPostbackAttempts>['data'][number]

const RESULTS = {
  timeout: 'result_timeout',
  connection_failed: 'result_connection_failed',
  redirect: 'result_redirect',
  http_status: 'result_http_status',
  url_not_allowed: 'result_url_not_allowed',
  no_secret: 'result_no_secret',
} as const satisfies Record<string, keyof Words>

const EVENT_WORDS: Readonly<Record<string, keyof Words>> = {
  signup: 'event_signup',
  first_deposit: 'event_first_deposit',
  qualified: 'event_qualified',
  'commission.approved': 'event_commission_approved',
  'commission.adjusted': 'event_commission_adjusted',
  'statement.paid': 'event_statement_paid',
  'statement.returned': 'event_statement_returned',
  'webhook.test': 'event_webhook_test',
}

const OFF_WORDS: Readonly<Record<string, keyof Words>> = {
  affiliate: 'postback_off_affiliate',
  firm: 'postback_off_firm',
  gone: 'postback_off_gone',
  failing: 'postback_off_failing',
}

const eventWords = (words: Words, type: string | null): string => {
  const name = EVENT_WORDS[type ?? '']
  return name === undefined ? '–' : words[name]
}

/** The address of the page, with what it shows. */
const pathOf = ({ account }: MemberVisit, query: Record<string, string> = {}, at = '') => {
  const search = new URLSearchParams(query).toString()
  return `${portalPath(account.id, AT)}${search && `?${search}`}${at && `#${at}`}`
}

/** Renders a button that makes a change. */
const Button = (props: {
  visit: MemberVisit
  values: Readonly<Record<string, string>>
  text: string
}) => <MemberForm visit={props.visit} at={AT} values={props.values} submit={props.text} isPlain />

const EXAMPLE =
  'https://tracker.example/p?cid={sub1}&amt={amount}&cur={currency}&ev={event}&tx={id}'

/** Renders the fields of a postback: those of a form that was refused, or those that are stored. */
const Fields = (props: { visit: MemberVisit; id: string; url: string; events: Set<string> }) => {
  const { words } = props.visit
  const { id, url, events } = props
  return (
    <>
      <div class="field">
        <label for={`url-${id}`}>{words.postback_url}</label>
        <input
          id={`url-${id}`}
          name="url"
          value={url}
          inputmode="url"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`hint-${id}`}
          placeholder={EXAMPLE}
          required
        />
        <p class="note" id={`hint-${id}`}>
          {words.postback_url_hint}{' '}
          {MACROS.map((name) => (
            <>
              <code>{`{${name}}`}</code>{' '}
            </>
          ))}
        </p>
      </div>
      <fieldset class="choices">
        <legend>{words.postback_events}</legend>
        {POSTBACK_EVENTS.map((type) => (
          <label>
            <input type="checkbox" name={`on ${type}`} value="yes" checked={events.has(type)} />{' '}
            {eventWords(words, type)}
          </label>
        ))}
      </fieldset>
    </>
  )
}

const typedEvents = (values: Values): PostbackEvent[] =>
  POSTBACK_EVENTS.filter((type) => values(`on ${type}`) === 'yes')

/** Renders the form that adds a postback. */
const AddForm = ({ visit, refused }: { visit: MemberVisit; refused: Refused | null }) => {
  const { words } = visit
  const values = refused?.values
  const events = values
    ? typedEvents(values)
    : ['signup', 'first_deposit', 'commission.approved', 'commission.adjusted']
  const isPost = values?.('method') === 'POST'
  return (
    <section id="add">
      <h2>{words.postback_add}</h2>
      {refused && <Problem text={refused.problem} />}
      <MemberForm visit={visit} at={AT} values={{ change: 'add' }} submit={words.postback_add}>
        <Fields visit={visit} id="new" url={values?.('url') ?? ''} events={new Set(events)} />
        <fieldset class="choices">
          <legend>{words.postback_method}</legend>
          {(['GET', 'POST'] as const).map((method) => (
            <label>
              <input
                type="radio"
                name="method"
                value={method}
                checked={isPost === (method === 'POST')}
              />{' '}
              {method === 'GET' ? words.postback_get : words.postback_post}
            </label>
          ))}
        </fieldset>
      </MemberForm>
    </section>
  )
}

const Result = ({ visit, attempt }: { visit: MemberVisit; attempt: Attempt }) => {
  const { words } = visit
  const { error, status, next_attempt_at } = attempt
  const text = words[error === null ? 'result_arrived' : RESULTS[error]]
  return (
    <>
      <span class={error === null ? 'badge good' : 'badge bad'}>
        {fill(text, { status: String(status ?? '') })}
      </span>{' '}
      {next_attempt_at !== null && (
        <small>{fill(words.postback_next, { time: timeText(next_attempt_at, visit) })}</small>
      )}
    </>
  )
}

/** Renders the latest attempts of a postback, each with a button that sends its event again. */
const Attempts = (props: { visit: MemberVisit; id: string; attempts: readonly Attempt[] }) => {
  const { visit, id, attempts } = props
  const { words } = visit
  const again = { change: 'again', postback: id }
  if (attempts.length === 0) return <p class="note">{words.postback_nothing_sent}</p>
  return (
    <>
      <ul class="lines">
        {attempts.map((attempt) => (
          <li>
            <p>
              <strong>{eventWords(words, attempt.type)}</strong>{' '}
              <span class="note">{timeText(attempt.at, visit)}</span>
            </p>
            <p>
              <Result visit={visit} attempt={attempt} />
            </p>
            {attempt.type !== null && attempt.next_attempt_at === null && (
              <Button
                visit={visit}
                values={{ ...again, event: attempt.event_id }}
                text={words.postback_again}
              />
            )}
          </li>
        ))}
      </ul>
      <Button visit={visit} values={again} text={words.postback_all_again} />
    </>
  )
}

const State = ({ visit, postback }: { visit: MemberVisit; postback: Postback }) => {
  const { words, account } = visit
  const { disabled_reason } = postback
  const text = words[OFF_WORDS[disabled_reason ?? ''] ?? 'postback_active']
  return (
    <span class={`badge ${disabled_reason === null ? 'good' : 'warn'}`}>
      {fill(text, { account: account.name })}
    </span>
  )
}

/** What the page shows of one postback, beside what is stored of it. */
interface Shown {
  /** Its attempts, if they are shown. */
  readonly attempts: readonly Attempt[] | null
  readonly refused: Refused | null
}

const OnePostback = (props: { visit: MemberVisit; postback: Postback } & Shown) => {
  const { visit, postback, attempts, refused } = props
  const { words } = visit
  const { id, url, method, events, disabled, disabled_reason } = postback
  const isOf = (change: string) => ({ change, postback: id })
  const typedUrl = refused?.values('url') ?? url
  const typed = refused ? typedEvents(refused.values) : events
  return (
    <article class="postback" id={id}>
      <h2 class="address">
        <code>{url}</code>
      </h2>
      <p>
        <State visit={visit} postback={postback} /> {method} ·{' '}
        {events.map((type) => eventWords(words, type)).join(' · ')}
      </p>
      <div class="buttons">
        {!disabled && <Button visit={visit} values={isOf('test')} text={words.postback_test} />}
        {disabled_reason !== 'firm' && (
          <Button
            visit={visit}
            values={isOf(disabled ? 'resume' : 'pause')}
            text={disabled ? words.postback_resume : words.postback_pause}
          />
        )}
        <Button visit={visit} values={isOf('delete')} text={words.postback_delete} />
      </div>
      <details open={refused !== null}>
        <summary>{words.postback_change}</summary>
        {refused && <Problem text={refused.problem} />}
        <MemberForm visit={visit} at={AT} values={isOf('save')} submit={words.postback_save}>
          <Fields visit={visit} id={id} url={typedUrl} events={new Set(typed)} />
        </MemberForm>
      </details>
      {attempts === null ? (
        <p>
          <a href={pathOf(visit, { sent: id }, id)}>{words.postback_attempts}</a>
        </p>
      ) : (
        <section>
          <h3>{words.postback_attempts}</h3>
          <Attempts visit={visit} id={id} attempts={attempts} />
        </section>
      )}
    </article>
  )
}

const DONE: Readonly<Record<string, keyof Words>> = {
  added: 'postback_done_added',
  saved: 'postback_done_saved',
  deleted: 'postback_done_deleted',
  test: 'postback_done_test',
  again: 'postback_done_again',
}

/** The secret of a postback that was added just now: it is shown once. */
interface Made {
  readonly secret: string
}

/** Responds with the postbacks of the affiliate, the latest attempts of one of them, and the form that adds one. */
export async function showPostbacks(
  c: Context<AppEnv>,
  visit: MemberVisit,
  refused: Refused | null = null,
): Promise<Response> {
  const { words } = visit
  const done = c.req.query('done') ?? ''
  const { secret } = await takeSecret<Made>(c, visit)
  const { data } = await visit.call(listPostbacks, {})
  const sent = data.find(({ id }) => id === c.req.query('sent'))?.id
  const found = sent
    ? await visit.call(listPostbackAttempts, { postback_id: sent, per_page: SHOWN_ATTEMPTS })
    : null
  const named = refused?.values('postback') ?? ''
  const count = String(WEBHOOK_LIMITS.postbacks)
  const doneWords = DONE[done]
  return respond(
    c,
    <MemberPage visit={visit} here="postbacks" title={words.postbacks}>
      {doneWords && (
        <p class="notice good" role="status">
          {words[doneWords]}
        </p>
      )}
      {secret !== undefined && (
        <p class="notice warn">
          {words.postback_secret} <Copied visit={visit} text={secret} />
        </p>
      )}
      <p>{fill(words.postback_lead, { count })}</p>
      {data.length === 0 && <p class="note">{words.postback_none}</p>}
      {refused && named !== '' && !data.some(({ id }) => id === named) && (
        <Problem text={refused.problem} />
      )}
      {data.map((postback) => (
        <OnePostback
          visit={visit}
          postback={postback}
          attempts={postback.id === sent ? (found?.data ?? []) : null}
          refused={postback.id === named ? refused : null}
        />
      ))}
      {data.length < WEBHOOK_LIMITS.postbacks && (
        <AddForm visit={visit} refused={named === '' ? refused : null} />
      )}
    </MemberPage>,
    refused ? 422 : 200,
  )
}

/** Returns why a change was refused, in the language of the affiliate. */
function problemOf({ words, account }: MemberVisit, change: string, error: ApiError): string {
  const [first] = (error.details.errors ?? []) as { pointer?: string }[]
  if (first?.pointer === '/url') {
    return fill(words.postback_wrong_url, { length: String(WEBHOOK_LIMITS.urlLength) })
  }
  if (first?.pointer?.startsWith('/events')) return words.postback_wrong_events
  if (error.code === 'not_found') return words.postback_gone
  if (error.code !== 'conflict') throw error
  if (change === 'add') return words.postback_full
  const isOfFirm = change === 'resume'
  return isOfFirm
    ? fill(words.postback_off_firm, { account: account.name })
    : words.postback_is_paused
}

/** Makes one change. Returns what the page says then; a redirect shows the page with it. */
async function makeChange(
  visit: MemberVisit,
  values: Values,
): Promise<{ done: string; at?: string; secret?: string }> {
  const change = values('change')
  const id = values('postback')
  const at = { postback_id: id }
  const fields = { url: values('url').trim(), events: typedEvents(values) }
  if (change !== 'add' && id === '') throw new ApiError('not_found')
  switch (change) {
    case 'add': {
      const method = values('method') === 'POST' ? 'POST' : 'GET'
      const made = await visit.call(createPostback, { ...fields, method })
      return { done: 'added', ...(made.secret !== null && { secret: made.secret }) }
    }
    case 'save':
      await visit.call(changePostback, { ...at, ...fields })
      return { done: 'saved' }
    case 'pause':
    case 'resume':
      await visit.call(changePostback, { ...at, disabled: change === 'pause' })
      return { done: 'saved' }
    case 'delete':
      await visit.call(deletePostback, at)
      return { done: 'deleted' }
    case 'test':
      await visit.call(testPostback, at)
      return { done: 'test', at: id }
    case 'again': {
      const event_id = values('event')
      const from = new Date(Date.now() - WEBHOOK_LIMITS.keptMs + DAY_MS).toISOString()
      const body = event_id ? { event_id } : { from, only_dead: true }
      await visit.call(replayPostback, { ...at, ...body })
      return { done: 'again', at: id }
    }
    default:
      throw new ApiError('not_found')
  }
}

/** Changes the postbacks of the affiliate. */
export async function changePostbacks(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const values = await readMemberForm(c, visit)
  try {
    const { done, at, secret } = await makeChange(visit, values)
    if (secret !== undefined) await keepSecret(c, visit, { secret } satisfies Made)
    return c.redirect(pathOf(visit, { done, ...(at && { sent: at }) }, at), 303)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const problem = problemOf(visit, values('change'), error)
    return showPostbacks(c, visit, { values, problem })
  }
}
