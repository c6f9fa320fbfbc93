import type { Context } from 'hono'
import type { Values } from '../pages/page.ts'
import { ComparedDetails, detailInputs, detailTitle } from '../pages/parts/bank-details.tsx'
import { InputField } from '../pages/parts/forms.tsx'
import { respond } from '../pages/respond.ts'
import {
  DETAIL_NAMES,
  detailPointer,
  nestedDetails,
  payeeFields,
  readableDetails,
} from '../payouts/fields.ts'
import { blockDetails, enterDetails, showDetails } from '../payouts/payees.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { parseAffiliateActor } from '../platform/auth/grant.ts'
import { ApiError } from '../platform/errors.ts'
import { validateFields } from '../platform/http/read-fields.ts'
import { askConfirmation, isConfirmed } from './confirmed.ts'
import { changesOf, type Refused } from './form.tsx'
import { PasskeyForm, Problem, portalPath } from './layout.tsx'
import { MemberPage, timeText } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

const AT = '/getting-paid'

/** What a confirmation is for. */
const PURPOSE = 'payee'

type Shown = Awaited<ReturnType<typeof showDetails>>

/** How VAT applies is decided by the team. */
const NAMES = DETAIL_NAMES.filter((name) => name !== 'treatment')

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
  const typed = refused?.values('change') === 'enter' && refused.values
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
          <ComparedDetails {...shown} names={NAMES} words={visit} />
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
        {detailInputs(NAMES, visit, known).map((input) => (
          <InputField
            {...input}
            id={`payee-${input.name}`}
            value={typed ? typed(input.name) : input.value}
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
  const typed = NAMES.map((name) => [name, values(name).trim()] as const)
  const sent = nestedDetails([...typed, ['treatment', details?.tax?.treatment ?? '']])
  const checked = validateFields(sent, payeeFields)
  await enterDetails(call, 'payee', [{ id: session.affiliate_id, sent: checked }])
  return done('entered')
}

function problemOf(visit: MemberVisit, error: ApiError): string {
  const { words } = visit
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
  return fill(words.payee_wrong, {
    fields: wrong.map((name) => detailTitle(name, visit)).join(', '),
  })
}

/** Makes a change that a passkey of the member has confirmed. */
export const changeGettingPaid = changesOf({ make: change, problemOf, show: showGettingPaid })
