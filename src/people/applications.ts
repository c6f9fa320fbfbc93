import * as v from 'valibot'
import { clientAddress } from '../platform/auth/address.ts'
import {
  APPLY_LIMITS,
  type AttemptLimits,
  STRANGERS_MAIL_LIMITS,
} from '../platform/auth/client-limits.ts'
import { withObjectRetry } from '../platform/auth/object-retry.ts'
import { digest } from '../platform/auth/secret.ts'
import { signText, verifyText } from '../platform/auth/sign-text.ts'
import type { Account } from '../platform/db/schema.ts'
import { ulidOf } from '../platform/db/ulid.ts'
import { signUpOf } from '../platform/directory/accounts.ts'
import { hasMail } from '../platform/directory/outbox.ts'
import { DAY_MS } from '../platform/durations.ts'
import { LANGUAGES } from '../platform/languages.ts'
import { COUNTRIES } from '../platform/validation/country.ts'
import * as f from '../platform/validation/fields.ts'
import { insertApplication, takesNone } from './db/applications.ts'

// What a stranger sends. The answer never depends on who is known: nothing here reads affiliates or their addresses.

/** How long somebody takes to fill in the form, at the least: a simple robot takes less. In milliseconds. */
const LEAST_MS = 3000

/** How long a form can be sent, in milliseconds. */
const FORM_MS = DAY_MS

/** An answer to a question of the account. */
const answer = f.remarkOf(500)

/** The fields of the form, and the name of the one that no person sees. */
export const APPLICATION_FIELDS = {
  name: f.labelOf(100),
  company: v.union([v.literal(''), f.labelOf(100)]),
  country: v.picklist([...COUNTRIES.keys()]),
  website: f.remarkOf(300),
  promotion: f.remarkOf(1000),
  email: v.pipe(
    f.address,
    v.transform((text) => text.toLowerCase()),
  ),
  language: v.picklist(LANGUAGES),
}

/** The field that no person sees, and so leaves empty. */
export const TRAP = 'homepage'

/** Returns the name of the field of a question by its place. */
export const answerField = (place: number): string => `answer-${place}`

const contextOf = ({ id }: Pick<Account, 'id'>) => `apply ${id}`

/** Returns the text by which a form is known that is shown at `now` (milliseconds): sent twice, it is one application. */
export const newApplyForm = (env: Env, account: Account, now: number): Promise<string> =>
  signText(env, contextOf(account), `${now} ${crypto.randomUUID()}`)

/** What came of a form: `invalid` has the names of its fields that are wrong. */
export type Applied =
  | { readonly is: 'taken' | 'full' | 'expired' }
  | { readonly is: 'invalid'; readonly names: readonly string[] }
  | { readonly is: 'too_many'; readonly wait: number }

/** Counts what is limited. Returns the seconds to wait, 0 if none. */
const waitOf = (env: Env, name: string, limits: AttemptLimits): Promise<number> =>
  withObjectRetry(() => env.CLIENT_GATE.getByName(name).attempt(limits, '', true))

/** Returns the fields of a form, without white space around them, or the names of those that are wrong. */
function readForm(account: Account, sent: (name: string) => string) {
  const { questions, terms } = signUpOf(account)
  const text = (name: string) => sent(name).replaceAll('\r\n', '\n').trim()
  const names = Object.keys(APPLICATION_FIELDS)
  const values = Object.fromEntries(names.map((name) => [name, text(name)]))
  const read = v.safeParse(v.object(APPLICATION_FIELDS), values)
  const answers = questions.map((question, i) => ({ question, answer: text(answerField(i)) }))
  const wrong = [
    ...(read.issues ?? []).map(({ path }) => String(path?.[0]?.key)),
    ...answers.flatMap((one, i) => (v.is(answer, one.answer) ? [] : [answerField(i)])),
    ...(terms && sent('terms') === terms.version ? [] : ['terms']),
  ]
  if (!read.success || !terms || wrong.length > 0) return { names: wrong }
  const { company, ...fields } = read.output
  const accepted = { answers: JSON.stringify(answers), terms_version: terms.version }
  return { row: { ...fields, company: company || null, ...accepted } }
}

/** Takes what somebody has sent with the form of an account at `now` (milliseconds). */
export async function apply(
  env: Env,
  { account, db, now }: { account: Account; db: D1Database; now: number },
  headers: Headers,
  sent: (name: string) => string,
): Promise<Applied> {
  const form = await verifyText(env, contextOf(account), sent('form'))
  const shownAt = Number.parseInt(form ?? '0', 10)
  if (form === null || shownAt + FORM_MS <= now) return { is: 'expired' }
  if (sent(TRAP) !== '' || now - shownAt < LEAST_MS) return { is: 'taken' }
  const { row, names = [] } = readForm(account, sent)
  if (!row) return { is: 'invalid', names }
  const wait = await waitOf(env, `apply:${clientAddress(headers)}`, APPLY_LIMITS)
  if (wait > 0) return { is: 'too_many', wait }
  if (await takesNone(db, account.id, now)) return { is: 'full' }
  const isMailed = hasMail(env)
  const address = `mail:${await digest(row.email)}`
  if (isMailed && (await waitOf(env, address, STRANGERS_MAIL_LIMITS)) > 0) return { is: 'taken' }
  await insertApplication(db, account.id, {
    ...row,
    id: `app_${await ulidOf(shownAt, form)}`,
    status: isMailed ? 'unproved' : 'waiting',
    applied_at: now,
    ref: sent('ref'),
  })
  return { is: 'taken' }
}
