import * as v from 'valibot'
import {
  hasMail,
  NOTICE_KINDS,
  type NoticeKind,
  type StoredNotice,
} from '../../platform/directory/outbox.ts'
import { loadWords } from '../../platform/documents/texts.ts'
import { type Call, list } from '../../platform/http/operation.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { readFacts } from '../db/facts.ts'
import { listNotices as readNotices } from '../db/recipients.ts'
import { noticeText } from '../mail.ts'

const KINDS = Object.keys(NOTICE_KINDS) as NoticeKind[]

const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

const notice = component('Notice', () => ({
  id: member(v.string(), 'The id of the notice.'),
  kind: member(v.picklist(KINDS), 'What it says.'),
  cause: member(v.string(), 'The id of what caused it.'),
  recipient: member(
    v.string(),
    'Whom it is for: `affiliate:IB-07`, `member:ID`, `address:ADDRESS`, or `role:approver`: the members with this role or a higher one.',
  ),
  affiliate_id: nullable(v.string(), 'Whom it is about, beside its recipient.'),
  at: member(time, 'When it was caused.'),
  subject: nullable(v.string(), 'What it says, in one line. Null: its cause is no more.'),
  text: nullable(v.string(), 'What it says. It has no link. Null likewise.'),
  sent: member(count, 'To how many addresses it was sent.'),
  attempts: member(count, 'The attempts to send it.'),
  attempted_at: nullable(time, 'When the last attempt ended. Null: none has.'),
  error: nullable(v.string(), 'Why the last attempt failed, or null.'),
  next_attempt_at: nullable(time, 'When it is sent next. Null: it is not.'),
}))

/** Returns notices with what they say in the language of an address, else in English. */
async function withTexts(
  { env, db, account }: Pick<Call, 'env' | 'db' | 'account'>,
  notices: readonly StoredNotice[],
) {
  await loadWords(env)
  const all = await readFacts(db, notices, Date.now())
  return notices.map((one, i) => {
    const facts = all[i] ?? null
    const said = facts && noticeText(account, one, facts, one.language ?? 'en')
    return {
      ...{ id: one.id, kind: one.kind, cause: one.cause, recipient: one.recipient },
      ...{ affiliate_id: one.affiliate_id, at: instant(one.at) ?? '' },
      subject: said?.subject ?? null,
      text: said?.paragraphs.join('\n\n') ?? null,
      sent: (JSON.parse(one.sent) as string[]).length,
      attempts: one.attempts,
      attempted_at: instant(one.tried_at),
      error: one.error,
      next_attempt_at: one.next_at !== null && hasMail(env) ? instant(one.next_at) : null,
    }
  })
}

export const listNotices = list({
  topic: 'monitoring',
  id: 'listNotices',
  shows: 'account',
  path: '/notices',
  params: {
    kind: optional(v.picklist(KINDS), said('Only those of this kind.', 'statement_approved')),
    recipient: optional(v.string(), said('Only those for this recipient.', 'affiliate:IB-07')),
  },
  words: described(() => ({
    description:
      'Lists the notices to affiliates, applicants and members of the team of the last 90 days, the latest first, with what they say in English and whether they were sent. The list has no link that signs in.',
    answer: notice,
    command: {
      name: 'notices list',
      columns: ['at', 'kind', 'recipient', 'subject', 'sent', 'error'],
    },
  })),
  async list(call, filter, page) {
    const found = await readNotices(call.db, call.account.id, filter, page)
    return { ...found, data: await withTexts(call, found.data) }
  },
})

const ownNotice = component('AffiliateNotice', () => ({
  id: v.string(),
  kind: member(v.picklist(KINDS), 'What it says.'),
  at: time,
  title: member(v.string(), 'What it says, in one line.'),
  paragraphs: member(v.array(v.string()), 'What it says, in the language of the affiliate.'),
}))

export const listOwnNotices = list({
  of: 'affiliate',
  topic: 'affiliate-api',
  id: 'listOwnNotices',
  path: '/notices',
  words: described(() => ({
    description:
      'Lists what the affiliate was told in the last 90 days, the latest first, whether or not it was sent by e-mail.',
    answer: ownNotice,
  })),
  async list({ env, session, affiliate }, _filter, page) {
    await loadWords(env)
    const { id, account, language } = affiliate
    const own = { recipient: `affiliate:${id}` }
    const found = await readNotices(session, account.id, own, page)
    const facts = await readFacts(session, found.data, Date.now())
    const data = found.data.flatMap((one, i) => {
      const known = facts[i]
      if (!known) return []
      const { subject, paragraphs } = noticeText(account, one, known, language ?? 'en')
      return [{ id: one.id, kind: one.kind, at: instant(one.at) ?? '', title: subject, paragraphs }]
    })
    return { ...found, data }
  },
})
