import type { Context } from 'hono'
import type { Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { ComparedDetails, detailInputs, detailWord } from '../pages/parts/bank-details.tsx'
import { InputField } from '../pages/parts/forms.tsx'
import { askConfirmation, requireConfirmed } from '../pages/passkeys/confirmed.ts'
import { PasskeyForm, Problem } from '../pages/passkeys/parts.tsx'
import {
  DETAIL_NAMES,
  flatDetails,
  isOfMethod,
  nestedDetails,
  readableDetails,
} from '../payouts/fields.ts'
import { missingLetters } from '../payouts/files/sepa-text.ts'
import { listAffiliatePayouts } from '../payouts/own/money.ts'
import { blockDetails, enterDetails, showDetails } from '../payouts/payees.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { parseAffiliateActor } from '../platform/auth/grant.ts'
import type { ApiError } from '../platform/errors.ts'
import { fill } from '../platform/languages.ts'
import { changesOf, type Refused } from './form.tsx'
import { portalPath } from './layout.tsx'
import { MemberPage, timeText } from './member-page.tsx'
import { groupMoney, ToDo } from './money.tsx'
import type { MemberVisit } from './visit.ts'

const AT = '/getting-paid'

/** How VAT applies is decided by the team. */
const OF_TEAM = ['treatment', 'exempt_reason']
const NAMES = DETAIL_NAMES.filter((name) => !OF_TEAM.includes(name))

const readShown = (visit: MemberVisit) =>
  showDetails({ ...visit.page, ...visit }, 'payee', visit.session.affiliate_id)

type Shown = Awaited<ReturnType<typeof readShown>>

/** Says what the state of the bank details means, and who entered them. */
function textsOf(shown: Shown, visit: MemberVisit): { state: string; author: string } {
  const { state, payable_from: from, entered_by: by, entered_at: at } = shown
  const { words, account, actor, now } = visit
  const waits = state === 'approved' && Date.parse(from ?? '') > now
  const isTheirs = parseAffiliateActor(by ?? '') !== null
  const author = by === actor ? 'you' : isTheirs ? 'member' : 'firm'
  const filled = (text: string, time: string | null) =>
    fill(text, { account: account.name, time: time ? timeText(time, visit) : '' })
  return {
    state: filled(words[waits ? 'payee_from' : (`payee_${state}` as const)], from),
    author: filled(words[`payee_by_${author}`], at),
  }
}

/** Responds with the bank details of the affiliate, masked, and the forms that change and block them. */
export async function showGettingPaid(
  c: Context<AppEnv>,
  visit: MemberVisit,
  refused?: Refused,
): Promise<Response> {
  const { account, words, csrf } = visit
  const [shown, form, { money }] = await Promise.all([
    readShown(visit),
    askConfirmation(visit.passkeys, AT),
    visit.call(listAffiliatePayouts, {}),
  ])
  const named = { account: account.name }
  const texts = textsOf(shown, visit)
  const known = readableDetails(shown)
  const typed = refused?.values('change') === 'enter' && refused.values
  const wrong = refused ? wrongFields(refused.error) : []
  return respond(
    c,
    <MemberPage
      visit={visit}
      here="getting_paid"
      title={words.getting_paid}
      done={c.req.query('done') && words.payee_done}
    >
      {refused && <Problem text={refused.problem} />}
      <ToDo groups={groupMoney(money.filter(({ state }) => state === 'came_back'))} isThere />
      <p class={shown.state === 'approved' ? 'notice good' : 'notice warn'}>{texts.state}</p>
      {shown.state !== 'missing' && (
        <>
          <ComparedDetails {...shown} names={NAMES} words={visit} />
          <p class="note">{texts.author}</p>
        </>
      )}
      <h2>{words.payee_enter}</h2>
      <p>{fill(words.payee_lead, named)}</p>
      {known.size > 0 && <p>{words.payee_hidden}</p>}
      <PasskeyForm {...form} submit={words.payee_save} values={{ csrf, change: 'enter' }}>
        {detailInputs(NAMES, visit, known).map((input) => (
          <InputField
            {...input}
            id={`payee-${input.name}`}
            value={typed ? typed(input.name) : input.value}
            errors={wrong
              .filter(([name]) => name === input.name)
              .map(([, word]) => ({
                message: fill(words[word], {
                  letters: missingLetters(typed ? typed(input.name) : '').join(' '),
                }),
              }))}
          />
        ))}
      </PasskeyForm>
      {shown.state !== 'missing' && shown.state !== 'blocked' && (
        <section id="block">
          {c.req.query('ask') === 'block' ? (
            <>
              <h2>{words.payee_not_me}</h2>
              <p>{fill(words.payee_not_me_lead, named)}</p>
              <PasskeyForm
                {...form}
                submit={words.payee_block}
                values={{ csrf, change: 'block' }}
              />
            </>
          ) : (
            <p>
              <a href="?ask=block#block">{words.payee_not_me}</a>
            </p>
          )}
        </section>
      )}
    </MemberPage>,
    refused ? 422 : 200,
  )
}

/** Enters or blocks the bank details of the affiliate. Returns the address that says so. */
async function change(visit: MemberVisit, values: Values): Promise<string> {
  const { account, session, page } = visit
  await requireConfirmed(visit.passkeys, AT, values)
  const call = { ...page, ...visit }
  const id = session.affiliate_id
  if (values('change') === 'block') {
    const reason = 'A person of the affiliate says that they did not enter this.'
    await blockDetails(call, 'payee', id, reason)
  } else {
    const { details } = await readShown(visit)
    const typed = NAMES.filter((name) => isOfMethod(values('method'), name)).map(
      (name) => [name, values(name).trim()] as const,
    )
    const decided = flatDetails(details ?? {}).filter(([name]) => OF_TEAM.includes(name))
    const sent = nestedDetails([...typed, ...decided])
    await enterDetails(call, 'payee', [{ id, sent }])
  }
  return portalPath(account.id, `${AT}?done=yes`)
}

/** What to do about errors: of a field, or of all. */
const WRONG: Readonly<Record<string, keyof MemberVisit['words'] & `payee_${string}`>> = {
  no_latin: 'payee_no_latin',
  'iban pattern': 'payee_check_iban',
  'routing pattern': 'payee_check_iban',
  'wallet_address pattern': 'payee_check_wallet',
}

/** Returns the names of the fields in which an error is, each with the words that say what to do. */
function wrongFields({ details }: ApiError) {
  const errors = (details.errors ?? []) as { pointer: string; code: string }[]
  return NAMES.flatMap((name) => {
    const error = errors.find(({ pointer }) => pointer.endsWith(`/${name}`))
    if (!error) return []
    return [[name, WRONG[`${name} ${error.code}`] ?? WRONG[error.code] ?? 'payee_check'] as const]
  })
}

function problemOf(visit: MemberVisit, error: ApiError): string {
  const { words } = visit
  const { detail } = error.details
  if (error.code === 'invalid_request' && detail) return detail
  if (error.code === 'conflict' || error.code === 'not_found') return words.payee_conflict
  if (error.code !== 'validation_failed') throw error
  const wrong = wrongFields(error).map(([name]) => detailWord(name, visit))
  return fill(words.payee_wrong, { fields: wrong.join(', ') })
}

/** Makes a change that a passkey of the member has confirmed. */
export const changeGettingPaid = changesOf({ make: change, problemOf, show: showGettingPaid })
