import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { readSignInForm } from '../pages/form.ts'
import { detailInputs } from '../pages/parts/bank-details.tsx'
import { type Input, InputField, Ticks } from '../pages/parts/forms.tsx'
import { Problem } from '../pages/passkeys/parts.tsx'
import { isOwnOrigin } from '../pages/show-page.tsx'
import { answerField, apply, newApplyForm, TRAP } from '../people/applications.ts'
import { takesNone } from '../people/db/applications.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { type SignUp, signUpOf } from '../platform/directory/accounts.ts'
import { hasMail } from '../platform/directory/outbox.ts'
import { ApiError } from '../platform/errors.ts'
import { fill, LANGUAGES } from '../platform/languages.ts'
import { PortalPage, portalPath } from './layout.tsx'
import { type PortalVisit, portalVisit } from './visit.ts'

// The page on which anybody applies to become an affiliate. It works without a script, and never names an affiliate.

const AT = '/join'

/** Returns the visit of the page of an account, if it is open. Throws `not_found` as for an account that does not exist. */
async function joinVisit(c: Context<AppEnv>): Promise<PortalVisit & { readonly signUp: SignUp }> {
  const visit = await portalVisit(c)
  const signUp = signUpOf(visit.account)
  if (!signUp.open) throw new ApiError('not_found')
  c.header('X-Robots-Tag', 'noindex')
  return { ...visit, signUp }
}

type JoinVisit = Awaited<ReturnType<typeof joinVisit>>

const filled = ({ account }: JoinVisit, text: string) => fill(text, { account: account.name })

const JoinPage = ({ visit, children }: { visit: JoinVisit; children?: Child }) => (
  <PortalPage
    language={visit.language}
    account={visit.account}
    title={filled(visit, visit.words.join)}
  >
    {children}
  </PortalPage>
)

const languageName = (language: string) =>
  new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language

/** Returns the fields of the form, in their order. */
function inputsOf(visit: JoinVisit): Input[] {
  const { words, signUp, language } = visit
  const one = (
    name: 'company' | 'email' | 'language' | 'website' | 'promotion',
    more: Omit<Input, 'name'> = {},
  ): Input => ({ name, label: filled(visit, words[`join_${name}`]), ...more })
  const area = (maxlength: number) =>
    ({ type: 'area', attributes: { rows: 3, maxlength } }) as const
  const options = LANGUAGES.map((to) => [to, languageName(to)] as const)
  return [
    { name: 'name', label: words.your_name, attributes: { autocomplete: 'name' } },
    one('company', { required: false, attributes: { autocomplete: 'organization' } }),
    ...detailInputs(['country'], visit),
    one('email', { attributes: { autocomplete: 'email', inputmode: 'email' } }),
    one('language', { value: language, options }),
    one('website', area(300)),
    one('promotion', area(1000)),
    ...signUp.questions.map((label, i) => ({ name: answerField(i), label, ...area(500) })),
  ]
}

/** Renders the terms, and the box by which they are accepted. */
const TermsPart = ({ visit, refused }: { visit: JoinVisit; refused?: Refused | undefined }) => {
  const { words, signUp } = visit
  const { terms } = signUp
  if (!terms) return null
  const { version } = terms
  const isWrong = refused?.names?.includes('terms')
  return (
    <>
      {'text' in terms && (
        <details>
          <summary>{words.join_terms}</summary>
          <p class="message-text">
            <bdi>{terms.text}</bdi>
          </p>
        </details>
      )}
      <Ticks
        title={'url' in terms ? <a href={terms.url}>{words.join_terms}</a> : words.join_terms}
        ticks={[
          {
            name: 'terms',
            value: version,
            label: words.join_accept,
            isTicked: refused?.values('terms') === version,
          },
        ]}
        errors={isWrong ? [{ message: words.join_field }] : []}
      />
    </>
  )
}

/** What was typed, and what is wrong with it. */
interface Refused {
  readonly values: Values
  readonly problem: string
  readonly names?: readonly string[]
  readonly status: ContentfulStatusCode
}

async function formPage(c: Context<AppEnv>, visit: JoinVisit, refused?: Refused) {
  const { account, words, now } = visit
  const { values, problem, names = [], status } = refused ?? {}
  const form = await newApplyForm(c.env, account, now)
  const ref = values?.('ref') ?? c.req.query('ref') ?? ''
  return respond(
    c,
    <JoinPage visit={visit}>
      {problem && <Problem text={problem} />}
      <p class="lead">{filled(visit, words.join_lead)}</p>
      <form method="post" action={portalPath(account.id, AT)} class="change">
        <input type="hidden" name="form" value={form} />
        <input type="hidden" name="ref" value={ref} />
        <div hidden>
          <label for={TRAP}>{words.join_trap}</label>
          <input id={TRAP} name={TRAP} value="" autocomplete="off" tabindex={-1} />
        </div>
        {inputsOf(visit).map((input) => (
          <InputField
            required
            {...input}
            id={input.name}
            value={values?.(input.name) ?? input.value}
            errors={names.includes(input.name) ? [{ message: words.join_field }] : []}
          />
        ))}
        <TermsPart visit={visit} refused={refused} />
        <button type="submit">{words.join_send}</button>
      </form>
    </JoinPage>,
    status,
  )
}

/** Responds with one sentence. */
const sentencePage = (
  c: Context<AppEnv>,
  visit: JoinVisit,
  text: string,
  { status, isGood }: { status?: ContentfulStatusCode; isGood?: true } = {},
) => {
  const sentence = filled(visit, text)
  return respond(
    c,
    <JoinPage visit={visit}>
      <p class={isGood ? 'notice good' : 'notice bad'} role={isGood ? 'status' : 'alert'}>
        {sentence}
      </p>
    </JoinPage>,
    status,
  )
}

/** Responds with the form, or says what comes next after it was sent. */
export async function showJoin(c: Context<AppEnv>): Promise<Response> {
  const visit = await joinVisit(c)
  const { db, account, words, now } = visit
  if (c.req.query('done')) {
    const text = hasMail(c.env) ? words.join_prove : words.join_arrived
    return sentencePage(c, visit, text, { isGood: true })
  }
  if (await takesNone(db, account.id, now)) return sentencePage(c, visit, words.join_full)
  return formPage(c, visit)
}

/** Takes an application. Whether something was stored is not told: that depends on what others have sent. */
export async function sendJoin(c: Context<AppEnv>): Promise<Response> {
  const visit = await joinVisit(c)
  const { account, words } = visit
  const values = await readSignInForm(c)
  const again = (status: ContentfulStatusCode, problem: string, names?: readonly string[]) =>
    formPage(c, visit, { values, problem, status, ...(names && { names }) })
  // Another site could otherwise have its visitors apply, each from an address of their own.
  if (!isOwnOrigin(c.req.raw)) return again(403, words.failed)
  const applied = await apply(c.env, visit, c.req.raw.headers, values)
  switch (applied.is) {
    case 'taken':
      return c.redirect(portalPath(account.id, `${AT}?done=yes`), 303)
    case 'full':
      return sentencePage(c, visit, words.join_full, { status: 409 })
    case 'expired':
      return again(422, words.join_expired)
    case 'invalid':
      return again(422, words.join_invalid, applied.names)
    default:
      c.header('Retry-After', String(applied.wait))
      return again(429, words.join_wait)
  }
}
