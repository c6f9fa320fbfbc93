import * as v from 'valibot'
import type { Page } from '../../platform/db/paginate.ts'
import { hasMail, NOTICE_KINDS, type NoticeKind } from '../../platform/directory/outbox.ts'
import { loadWords } from '../../platform/documents/texts.ts'
import { type Call, list } from '../../platform/http/operation.ts'
import type { Language } from '../../platform/languages.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { readFacts } from '../db/facts.ts'
import { type NoticeFilter, listNotices as readNotices } from '../db/recipients.ts'
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

/** Reads one page of notices with what they say in a language, else in that of an address; null of a cause that is no more. */
async function readTold(
  { env, session, account }: Pick<Call, 'env' | 'session' | 'account'>,
  filter: NoticeFilter,
  page: Page,
  language?: Language | null,
) {
  await loadWords(env)
  const found = await readNotices(session, account.id, filter, page)
  const all = await readFacts(session, found.data, Date.now())
  const data = found.data.map((row, i) => {
    const facts = all[i]
    const spoken = language ?? row.language ?? 'en'
    return { row, said: facts ? noticeText(account, row, facts, spoken) : null }
  })
  return { ...found, data }
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
    const found = await readTold(call, filter, page)
    const isMailed = hasMail(call.env)
    const data = found.data.map(({ row, said }) => ({
      ...{ id: row.id, kind: row.kind, cause: row.cause, recipient: row.recipient },
      ...{ affiliate_id: row.affiliate_id, at: instant(row.at) ?? '' },
      subject: said?.subject ?? null,
      text: said?.paragraphs.join('\n\n') ?? null,
      sent: (JSON.parse(row.sent) as string[]).length,
      attempts: row.attempts,
      attempted_at: instant(row.tried_at),
      error: row.error,
      next_attempt_at: isMailed ? instant(row.next_at) : null,
    }))
    return { ...found, data }
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
    const { id, account, language } = affiliate
    const own = { recipient: `affiliate:${id}` }
    const found = await readTold({ env, session, account }, own, page, language)
    const data = found.data.flatMap(({ row: { id, kind, at }, said }) =>
      said
        ? [{ id, kind, at: instant(at) ?? '', title: said.subject, paragraphs: said.paragraphs }]
        : [],
    )
    return { ...found, data }
  },
})
