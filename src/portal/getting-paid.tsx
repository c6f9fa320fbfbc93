import type { Context } from 'hono'
import type { Values } from '../pages/page.ts'
import { Data } from '../pages/parts/data.tsx'
import { type Input, InputField } from '../pages/parts/forms.tsx'
import { Table } from '../pages/parts/table.tsx'
import { respond } from '../pages/respond.ts'
import {
  DETAIL_NAMES,
  detailPointer,
  flatDetails,
  nestedDetails,
  payeeFields,
  readableDetails,
} from '../payouts/fields.ts'
import { METHODS } from '../payouts/model.ts'
import { blockDetails, enterDetails, showDetails } from '../payouts/payees.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { parseAffiliateActor } from '../platform/auth/grant.ts'
import { ApiError } from '../platform/errors.ts'
import { validateFields } from '../platform/http/read-fields.ts'
import { COUNTRIES } from '../platform/validation/country.ts'
import { askConfirmation, isConfirmed } from './confirmed.ts'
import { changesOf, type Refused } from './form.tsx'
import { PasskeyForm, Problem, portalPath } from './layout.tsx'
import { countryText, MemberPage, timeText } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'
import { fill, type Words } from './words.ts'

const AT = '/getting-paid'

/** What a confirmation is for. */
const PURPOSE = 'payee'

type Shown = Awaited<ReturnType<typeof showDetails>>

/** The names of methods that no language has other words for. */
const BRANDS: Readonly<Record<string, string>> = { wise: 'Wise', paypal: 'PayPal' }

/** Returns what a member of bank details is called. */
const labelOf = (name: string, words: Words): string =>
  name === 'country' ? words.country : (Reflect.get(words, `payee_${name}`) ?? name.toUpperCase())

const choice = (value: string, { words, account }: MemberVisit) =>
  BRANDS[value] ?? fill(Reflect.get(words, `payee_${value}`) ?? value, { account: account.name })

/** How VAT applies is decided by the team. */
const NAMES = DETAIL_NAMES.filter((name) => name !== 'treatment')

/** Returns the text of a member of bank details in words. */
const textOf = (name: string, text: string, visit: MemberVisit): string => {
  if (name === 'country') return countryText(text, visit.language)
  return name === 'kind' || name === 'method' ? choice(text, visit) : text
}

/** Returns the choices of a member of bank details; undefined if it is free text. */
function optionsOf(name: string, visit: MemberVisit): Input['options'] {
  if (name === 'kind') return ['person', 'company'].map((one) => [one, choice(one, visit)])
  if (name === 'method') return METHODS.map((one) => [one, choice(one, visit)])
  if (name !== 'country') return undefined
  const named = [...COUNTRIES.keys()].map((one) => [one, countryText(one, visit.language)] as const)
  return [['', '–'], ...named.sort(([, a], [, b]) => a.localeCompare(b, visit.language))]
}

/** Says what the state of the bank details means. */
function stateText({ state, payable_from }: Shown, visit: MemberVisit): string {
  const { words, account, now } = visit
  const waits = state === 'approved' && Date.parse(payable_from ?? '') > now
  return fill(words[waits ? 'payee_from' : (`payee_${state}` as const)], {
    ...{ account: account.name, time: payable_from ? timeText(payable_from, visit) : '' },
  })
}

/** Says who entered the bank details, and when. */
function authorText({ entered_by, entered_at }: Shown, visit: MemberVisit): string {
  const { words, actor, account } = visit
  const isTheirs = parseAffiliateActor(entered_by ?? '') !== null
  const by = isTheirs ? words.payee_by_member : words.payee_by_firm
  return fill(entered_by === actor ? words.payee_by_you : by, {
    ...{ account: account.name, time: timeText(entered_at ?? '', visit) },
  })
}

/** Renders what is entered beside what was approved before, masked. */
const Compared = ({ shown, visit }: { shown: Shown; visit: MemberVisit }) => {
  const { words } = visit
  const [now, before] = [shown.details, shown.previous].map(
    (details) => new Map(flatDetails(details ?? {})),
  )
  const cell = (of: ReadonlyMap<string, string> | undefined) => (name: string) => (
    <Data text={textOf(name, of?.get(name) ?? '', visit)} />
  )
  return (
    <Table
      isNarrow
      caption={words.payee_caption}
      rows={NAMES.filter((name) => now?.has(name) || before?.has(name))}
      columns={{
        [words.payee_detail]: (name) => labelOf(name, words),
        [words.payee_before]: shown.previous !== null && cell(before),
        [words.payee_now]: cell(now),
      }}
    />
  )
}

/** Responds with the bank details of the affiliate, masked, and the forms that change and block them. */
export async function showGettingPaid(
  c: Context<AppEnv>,
  visit: MemberVisit,
  refused?: Refused,
): Promise<Response> {
  const { account, words, csrf } = visit
  const [shown, confirmation] = await Promise.all([
    showDetails(callerOf(visit), 'payee', visit.session.affiliate_id),
    askConfirmation(c.env, visit, PURPOSE),
  ])
  const named = { account: account.name, hours: String(account.payee_hold_hours) }
  const done = { entered: words.payee_done_entered, blocked: words.payee_done_blocked }
  const form = { words, kind: 'get', action: portalPath(account.id, AT), ...confirmation } as const
  const isFilled = shown.state !== 'missing'
  const known = readableDetails(shown)
  const textIn =
    refused?.values('change') === 'enter' ? refused.values : (name: string) => known.get(name)
  return respond(
    c,
    <MemberPage
      visit={visit}
      here="getting_paid"
      title={words.getting_paid}
      done={fill(Reflect.get(done, c.req.query('done') ?? '') ?? '', named)}
    >
      {refused && <Problem text={refused.problem} />}
      <p class="lead">{fill(words.payee_lead, named)}</p>
      <p class={shown.state === 'approved' ? 'notice good' : 'notice warn'}>
        {stateText(shown, visit)}
      </p>
      {isFilled && (
        <>
          <Compared shown={shown} visit={visit} />
          <p class="note">{authorText(shown, visit)}</p>
        </>
      )}
      {isFilled && shown.state !== 'blocked' && (
        <>
          <h2>{words.payee_not_me}</h2>
          <p>{fill(words.payee_not_me_lead, named)}</p>
          <PasskeyForm {...form} submit={words.payee_block}>
            <input type="hidden" name="csrf" value={csrf} />
            <input type="hidden" name="change" value="block" />
          </PasskeyForm>
        </>
      )}
      <h2>{words.payee_enter}</h2>
      <PasskeyForm {...form} submit={words.payee_save}>
        <input type="hidden" name="csrf" value={csrf} />
        <input type="hidden" name="change" value="enter" />
        {NAMES.map((name) => (
          <InputField
            id={`payee-${name}`}
            name={name}
            label={labelOf(name, words)}
            value={textIn(name)}
            options={optionsOf(name, visit)}
            required={['name', 'city', 'country'].includes(name)}
          />
        ))}
      </PasskeyForm>
    </MemberPage>,
    refused ? 422 : 200,
  )
}

const callerOf = ({ page: { env, waitUntil }, db, account, actor }: MemberVisit) => ({
  ...{ env, waitUntil, db, account, actor },
})

/** Enters or blocks the bank details of the affiliate. Returns the address that says so. */
async function change(visit: MemberVisit, values: Values, c: Context<AppEnv>): Promise<string> {
  const { account, words, session } = visit
  if (!(await isConfirmed(c, visit, PURPOSE, values))) {
    throw new ApiError('invalid_request', { detail: words.expired })
  }
  const call = callerOf(visit)
  const done = (what: string) => portalPath(account.id, `${AT}?done=${what}`)
  if (values('change') === 'block') {
    const reason = 'A person of the affiliate says that they did not enter this.'
    await blockDetails(call, 'payee', session.affiliate_id, reason)
    return done('blocked')
  }
  const { details } = await showDetails(call, 'payee', session.affiliate_id)
  const treatment = details?.tax?.treatment
  const sent = nestedDetails((name) =>
    name === 'treatment' ? treatment : NAMES.includes(name) ? values(name).trim() : '',
  )
  const checked = validateFields(sent, payeeFields)
  await enterDetails(call, 'payee', [{ id: session.affiliate_id, sent: checked }])
  return done('entered')
}

function problemOf({ words }: MemberVisit, error: ApiError): string {
  if (error.code === 'invalid_request' && error.details.detail) return error.details.detail
  if (error.code === 'conflict' || error.code === 'not_found') return words.payee_conflict
  if (error.code !== 'validation_failed') throw error
  const errors = (error.details.errors ?? []) as { pointer: string; message: string }[]
  // The mistake of none of two fields names both.
  const wrong = NAMES.filter((name) =>
    errors.some(({ pointer, message }) =>
      pointer === '' ? message.includes(`\`${name}\``) : pointer === detailPointer(name),
    ),
  )
  return fill(words.payee_wrong, { fields: wrong.map((name) => labelOf(name, words)).join(', ') })
}

/** Makes a change that a passkey of the member has confirmed. */
export const changeGettingPaid = changesOf({ make: change, problemOf, show: showGettingPaid })
