import type { Context } from 'hono'
import {
  changePostback,
  createPostback,
  deletePostback,
  listPostbackAttempts,
  listPostbacks,
  testPostback,
} from '../affiliates/postbacks.ts'
import type { Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Ticks } from '../pages/parts/forms.tsx'
import { Problem } from '../pages/passkeys/parts.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { Words } from '../platform/documents/texts.ts'
import { ApiError } from '../platform/errors.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { POSTBACK_EVENTS, type PostbackEvent } from '../webhooks/events.ts'
import { WEBHOOK_LIMITS } from '../webhooks/limits.ts'
import { MACROS } from '../webhooks/macros.ts'
import { Copied, changesOf, keepSecret, MemberForm, type Refused, takeSecret } from './form.tsx'
import { portalPath } from './layout.tsx'
import { MemberPage, timeText } from './member-page.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'

const AT = '/postbacks'

/** The events that the page shows of a postback. */
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
}

const OFF_WORDS: Readonly<Record<string, keyof Words>> = {
  affiliate: 'postback_off_affiliate',
  gone: 'postback_off_gone',
  failing: 'postback_off_failing',
}

const eventWords = (words: Words, type: string): string => {
  const name = EVENT_WORDS[type]
  return name === undefined ? '–' : words[name]
}

/** The address of the page, with what it shows. */
const pathOf = ({ account }: MemberVisit, query: Record<string, string> = {}, at = '') => {
  const search = new URLSearchParams(query).toString()
  return `${portalPath(account.id, AT)}${search && `?${search}`}${at && `#${at}`}`
}

/** Renders a button that makes a change. */
const Button = (props: { values: Readonly<Record<string, string>>; text: string }) => (
  <MemberForm at={AT} values={props.values} submit={props.text} isPlain />
)

const EXAMPLE =
  'https://tracker.example/p?cid={sub1}&amt={amount}&cur={currency}&ev={event}&tx={id}'

const typedEvents = (values: Values): PostbackEvent[] =>
  POSTBACK_EVENTS.filter((type) => values(`on ${type}`) === 'yes')

/** Renders the form of a new postback, or of a stored one. */
const PostbackForm = (
  { refused, postback }: { refused: Refused | null; postback?: Postback },
  { words } = useMemberVisit(),
) => {
  const usual = ['signup', 'first_deposit', 'commission.approved', 'commission.adjusted']
  const events: readonly string[] = refused
    ? typedEvents(refused.values)
    : (postback?.events ?? usual)
  const isPost = refused?.values('method') === 'POST'
  return (
    <MemberForm
      at={AT}
      values={postback ? { change: 'save', postback: postback.id } : { change: 'add' }}
      submit={postback ? words.save : words.postback_add}
      refused={refused}
      id={postback?.id ?? 'new'}
      fields={[
        {
          name: 'url',
          label: words.postback_url,
          value: postback?.url,
          required: true,
          placeholder: EXAMPLE,
          attributes: { inputmode: 'url', spellcheck: 'false' },
          hint: (
            <>
              {words.postback_url_hint}{' '}
              {MACROS.map((name) => (
                <>
                  <code>{`{${name}}`}</code>{' '}
                </>
              ))}
            </>
          ),
        },
      ]}
    >
      <Ticks
        title={words.postback_events}
        ticks={POSTBACK_EVENTS.map((type) => ({
          name: `on ${type}`,
          value: 'yes',
          label: eventWords(words, type),
          isTicked: events.includes(type),
        }))}
      />
      {!postback && (
        <Ticks
          title={words.postback_method}
          isOne
          ticks={[
            { name: 'method', value: 'GET', label: words.postback_get, isTicked: !isPost },
            { name: 'method', value: 'POST', label: words.postback_post, isTicked: isPost },
          ]}
        />
      )}
    </MemberForm>
  )
}

/** Renders what a tracker answered. */
const Result = (
  { response_status, error }: Pick<Attempt, 'response_status' | 'error'>,
  { words } = useMemberVisit(),
) => (
  <span class={`badge ${error === null ? 'good' : 'bad'}`}>
    {fill(words[error === null ? 'result_arrived' : RESULTS[error]], {
      status: String(response_status ?? ''),
    })}
  </span>
)

/** Renders the latest events of a postback with their last attempts. */
const Attempts = ({ attempts }: { attempts: readonly Attempt[] }, visit = useMemberVisit()) => {
  const { words } = visit
  if (attempts.length === 0) return <p class="note">{words.postback_nothing_sent}</p>
  return (
    <ul class="lines">
      {attempts.map((attempt) => (
        <li>
          <p>
            <strong>{eventWords(words, attempt.type)}</strong>{' '}
            <span class="note">{timeText(attempt.attempted_at ?? attempt.timestamp, visit)}</span>
          </p>
          <p>
            {attempt.attempted_at !== null && <Result {...attempt} />}{' '}
            {attempt.next_attempt_at !== null && (
              <small>
                {fill(visit.words.postback_next, {
                  time: timeText(attempt.next_attempt_at, visit),
                })}
              </small>
            )}
          </p>
        </li>
      ))}
    </ul>
  )
}

/** What the page shows of one postback, beside what is stored of it. */
interface Shown {
  /** Its attempts, if they are shown. */
  readonly attempts: readonly Attempt[] | null
  readonly refused: Refused | null
  /** What its tracker answered to the test that was sent just now. */
  readonly test: AnswerOf<typeof testPostback> | null
}

const OnePostback = (
  { postback, attempts, refused, test }: { postback: Postback } & Shown,
  visit = useMemberVisit(),
) => {
  const { words } = visit
  const { id, url, method, events, disabled, disabled_reason } = postback
  const isOf = (change: string) => ({ change, postback: id })
  return (
    <article class="postback" id={id}>
      <h2 class="address">
        <code>{url}</code>
      </h2>
      <p>
        <span class={`badge ${disabled_reason === null ? 'good' : 'warn'}`}>
          {words[OFF_WORDS[disabled_reason ?? ''] ?? 'link_on']}
        </span>{' '}
        {method} · {events.map((type) => eventWords(words, type)).join(' · ')}
      </p>
      {test && (
        <div class="notice" role="status">
          <p>
            <strong>{words.postback_answer}</strong> <Result {...test} />
          </p>
          {test.body !== '' && (
            <p>
              <code>
                <Data text={test.body} />
              </code>
            </p>
          )}
        </div>
      )}
      <div class="buttons">
        <Button values={isOf('test')} text={words.postback_test} />
        <Button
          values={isOf(disabled ? 'resume' : 'pause')}
          text={disabled ? words.postback_resume : words.postback_pause}
        />
        <Button values={isOf('delete')} text={words.postback_delete} />
      </div>
      <details open={refused !== null}>
        <summary>{words.postback_change}</summary>
        <PostbackForm refused={refused} postback={postback} />
      </details>
      {attempts === null ? (
        <p>
          <a href={pathOf(visit, { sent: id }, id)}>{words.postback_attempts}</a>
        </p>
      ) : (
        <section>
          <h3>{words.postback_attempts}</h3>
          <Attempts attempts={attempts} />
        </section>
      )}
    </article>
  )
}

const DONE: Readonly<Record<string, keyof Words>> = {
  added: 'postback_done_added',
  saved: 'postback_done_saved',
  deleted: 'postback_done_deleted',
}

/** What the last change has made that is shown once. */
interface Made {
  /** The secret of a postback that was added. */
  readonly secret?: string
  /** What was answered to a test of a postback. */
  readonly test?: { readonly of: string; readonly answer: AnswerOf<typeof testPostback> }
}

/** Responds with the postbacks of the affiliate, the latest attempts of one of them, and the form that adds one. */
export async function showPostbacks(
  c: Context<AppEnv>,
  visit: MemberVisit,
  refused: Refused | null = null,
): Promise<Response> {
  const { words } = visit
  const done = DONE[c.req.query('done') ?? '']
  const { secret, test } = await takeSecret<Made>(c, visit)
  const { data } = await visit.call(listPostbacks, {})
  const sent = data.find(({ id }) => id === c.req.query('sent'))?.id
  const found = sent
    ? await visit.call(listPostbackAttempts, { postback_id: sent, per_page: SHOWN_ATTEMPTS })
    : null
  const named = refused?.values('postback') ?? ''
  const count = String(WEBHOOK_LIMITS.postbacks)
  return respond(
    c,
    <MemberPage visit={visit} here="postbacks" title={words.postbacks} done={done && words[done]}>
      {secret !== undefined && (
        <p class="notice warn">
          {words.postback_secret} <Copied text={secret} />
        </p>
      )}
      <p>{fill(words.postback_lead, { count })}</p>
      {data.length === 0 && <p class="note">{words.postback_none}</p>}
      {refused && named !== '' && !data.some(({ id }) => id === named) && (
        <Problem text={refused.problem} />
      )}
      {data.map((postback) => (
        <OnePostback
          postback={postback}
          attempts={postback.id === sent ? (found?.data ?? []) : null}
          refused={postback.id === named ? refused : null}
          test={postback.id === test?.of ? test.answer : null}
        />
      ))}
      {data.length < WEBHOOK_LIMITS.postbacks && (
        <section id="add">
          <h2>{words.postback_add}</h2>
          <PostbackForm refused={named === '' ? refused : null} />
        </section>
      )}
    </MemberPage>,
    refused ? 422 : 200,
  )
}

/** Returns why a change was refused, in the language of the affiliate. */
function problemOf({ words }: MemberVisit, error: ApiError): string {
  const [first] = (error.details.errors ?? []) as { pointer?: string }[]
  if (first?.pointer === '/url') {
    return fill(words.postback_wrong_url, { length: String(WEBHOOK_LIMITS.urlLength) })
  }
  if (first?.pointer?.startsWith('/events')) return words.postback_wrong_events
  if (error.code === 'not_found') return words.postback_gone
  if (error.code === 'conflict') return words.postback_full
  throw error
}

/** Makes one change. Returns the address that says so. */
async function makeChange(visit: MemberVisit, values: Values, c: Context<AppEnv>): Promise<string> {
  const change = values('change')
  const id = values('postback')
  const at = { postback_id: id }
  const fields = { url: values('url').trim(), events: typedEvents(values) }
  if (change !== 'add' && id === '') throw new ApiError('not_found')
  switch (change) {
    case 'add': {
      const method = values('method') === 'POST' ? 'POST' : 'GET'
      const { secret } = await visit.call(createPostback, { ...fields, method })
      if (secret !== null) await keepSecret(c, visit, { secret } satisfies Made)
      return pathOf(visit, { done: 'added' })
    }
    case 'save':
      await visit.call(changePostback, { ...at, ...fields })
      return pathOf(visit, { done: 'saved' })
    case 'pause':
    case 'resume':
      await visit.call(changePostback, { ...at, disabled: change === 'pause' })
      return pathOf(visit, { done: 'saved' })
    case 'delete':
      await visit.call(deletePostback, at)
      return pathOf(visit, { done: 'deleted' })
    case 'test':
      await keepSecret(c, visit, {
        test: { of: id, answer: await visit.call(testPostback, at) },
      } satisfies Made)
      return pathOf(visit, {}, id)
    default:
      throw new ApiError('not_found')
  }
}

/** Changes the postbacks of the affiliate. */
export const changePostbacks = changesOf({ make: makeChange, problemOf, show: showPostbacks })
