import { html } from 'hono/html'
import { wordsOf } from '../commission/words/words.ts'
import { type LinkAct, linkToken } from '../platform/auth/notice-links.ts'
import type { Account } from '../platform/db/schema.ts'
import { passkeyOrigin } from '../platform/development.ts'
import type { NoticeKind, StoredNotice } from '../platform/directory/outbox.ts'
import { WORDS, type Words } from '../platform/documents/texts.ts'
import { fill, type Language } from '../platform/languages.ts'
import type { Facts } from './db/facts.ts'
import { addressDigest, type Person, stoppedFor } from './db/recipients.ts'

// Text and HTML of a notice come from one text of `catalogues`, in the language of its reader.

/** What the button of a notice does, if it has one, and who gets it. */
interface Target {
  /** Whether nobody switches it off: it is about who may do what, or an answer to the reader. */
  readonly isSecurity?: true
  readonly button?: keyof Words
  /** The page, below that of the account in the portal or console. `{page}` is the fact of that name. */
  readonly path?: string
  /** What its link is good for; absent: it only leads to a page that asks for a sign-in. */
  readonly act?: LinkAct
}

const portal = (path: string): Target => ({
  button: 'open_portal',
  path: `/portal/{account}${path}`,
})
const console = (path: string): Target => ({
  button: 'open_console',
  path: `/console/accounts/{account}${path}`,
})

const invited = (path: string): Target => ({
  ...{ button: 'accept', act: 'invitation', isSecurity: true },
  path: `${path}/invitation#{token}`,
})

const linked = (act: 'application' | 'block', button: keyof Words): Target => ({
  ...{ button, act, isSecurity: true },
  path: `/notices/${act}/{token}`,
})

const TEAM: Target = { button: 'open_console', path: '/console/team', isSecurity: true }

/** What each kind leads to. */
const TARGETS: Readonly<Record<NoticeKind, Target>> = {
  invitation: invited('/portal/{account}'),
  application_received: linked('application', 'confirm'),
  application_approved: invited('/portal/{account}'),
  application_rejected: { isSecurity: true },
  statement_approved: portal('/statements/{page}'),
  payment_sent: portal('/payments'),
  payment_paid: portal('/payments'),
  payment_returned: portal('/getting-paid'),
  details_changed: linked('block', 'block'),
  question_answered: portal('/questions#{page}'),
  terms_changed: portal(''),
  member_invitation: invited('/console'),
  approver_changed: TEAM,
  batch_prepared: console('/payouts/batches/{page}'),
  details_entered: console('/payouts/payees'),
  approval_waits: TEAM,
  question_asked: console('/questions/{page}'),
  application: console('/applications'),
  attention: console(''),
}

/** Returns whether a notice reaches also those who have switched notices off. */
export const isSecurity = ({ kind }: Pick<StoredNotice, 'kind'>) =>
  TARGETS[kind].isSecurity === true

/** Returns a text on one line, without what could end a header field or hide something in it. */
const oneLine = (text: string) => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

/** Returns the facts as their reader's language writes them. */
function valuesOf(facts: Facts, account: string, language: Language) {
  const speech = wordsOf(language)
  const { amount, currency = '', day, period } = facts
  const texts = Object.entries(facts).map(([name, value]) => [name, oneLine(String(value ?? ''))])
  return {
    ...(Object.fromEntries(texts) as Record<string, string>),
    account,
    ...(amount && { amount: speech.money(amount, currency) }),
    ...(day && { day: speech.day(day) }),
    ...(period && { period: speech.period(period) }),
  }
}

/** The name of the sender, for notices of the team. */
const SERVICE = 'Tributary'

/** Returns the name by which an account signs its notices: letters, digits and spaces alone. */
const senderOf = (account: Account | null) =>
  (account?.mail_name ?? account?.name ?? SERVICE).replaceAll(/[^\p{L}\p{N} ]+/gu, ' ').trim() ||
  SERVICE

/** What a notice says. */
export interface NoticeText {
  readonly subject: string
  readonly paragraphs: readonly string[]
}

/** Returns what a notice says in a language. */
export function noticeText(
  account: Account | null,
  { kind }: Pick<StoredNotice, 'kind'>,
  facts: Facts,
  language: Language,
): NoticeText {
  const words = WORDS[language]
  const values = valuesOf(facts, oneLine(account?.name ?? SERVICE), language)
  const has = facts.has_details
  const more = kind !== 'statement_approved' ? [] : [has ? words.payable_from : words.no_details]
  const texts = [words[`${kind}_text`], ...more]
  return {
    subject: fill(words[`${kind}_subject`], values),
    paragraphs: texts.flatMap((text) => fill(text, values).split('\n\n')),
  }
}

/** Returns the page that a notice leads to; null if it leads to none. With `act`, its link acts. */
async function linkOf(
  env: Env,
  { account, kind }: StoredNotice,
  facts: Facts,
  now: number,
): Promise<{ readonly url: string; readonly button: keyof Words } | null> {
  const { act, path, button } = TARGETS[kind]
  if (!path || !button) return null
  const home = path.startsWith('/console/') ? '/console' : `/portal/${encodeURIComponent(account)}`
  const named = { account: act === 'invitation' ? home : account, id: facts.link ?? '' }
  const token = act ? await linkToken(env, act, named, now) : ''
  const parts = { account, page: String(facts.page ?? ''), token }
  const encoded = Object.entries(parts).map(([name, part]) => [name, encodeURIComponent(part)])
  return { button, url: new URL(fill(path, Object.fromEntries(encoded)), passkeyOrigin(env)).href }
}

/** An e-mail, as the platform's binding takes it. */
export type Mail = EmailMessageBuilder & Readonly<Record<'to' | 'text' | 'html', string>>

/** Returns the e-mail by which a notice reaches a person. `now` is in milliseconds. */
export async function mailOf(
  env: Env,
  account: Account | null,
  notice: StoredNotice,
  facts: Facts,
  { address, language }: Person,
  now: number,
): Promise<Mail> {
  const words = WORDS[language]
  const { subject, paragraphs } = noticeText(account, notice, facts, language)
  const link = await linkOf(env, notice, facts, now)
  const stopped = { account: stoppedFor(notice), id: await addressDigest(address) }
  const off = isSecurity(notice)
    ? null
    : new URL(`/notices/off/${await linkToken(env, 'off', stopped, now)}`, passkeyOrigin(env)).href
  const name = senderOf(account)
  const text = [
    ...paragraphs,
    ...(link ? [`${words[link.button]}:\n${link.url}`] : []),
    `-- \n${name}${off ? `\n${words.off}: ${off}` : ''}`,
  ].join('\n\n')
  const body = await html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="margin:0 auto;padding:24px;max-width:560px;font:16px/1.5 sans-serif">
<p><strong>${name}</strong></p>
${paragraphs.map((one) => html`<p>${one}</p>\n`)}
${link && html`<p><a href="${link.url}" style="display:inline-block;padding:10px 18px;border:1px solid;border-radius:6px">${words[link.button]}</a></p>`}
${off && html`<p style="font-size:13px"><a href="${off}">${words.off}</a></p>`}
</body></html>`
  return {
    from: { email: env.MAIL_FROM, name },
    to: address,
    ...(account?.reply_to && { replyTo: account.reply_to }),
    subject,
    text,
    html: String(body),
    ...(off && {
      headers: {
        'List-Unsubscribe': `<${off}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    }),
  }
}
