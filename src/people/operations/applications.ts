import * as v from 'valibot'
import { newInvitation } from '../../affiliates/operations/affiliate-members.ts'
import { prepareAffiliates, REFUSED } from '../../affiliates/operations/affiliates.ts'
import { signUpOf } from '../../platform/directory/accounts.ts'
import { unconfiguredAmong } from '../../platform/directory/affiliates.ts'
import { insertEntry, tryWithAudit } from '../../platform/directory/audit.ts'
import { hasMail, noticeStatement } from '../../platform/directory/outbox.ts'
import { ApiError } from '../../platform/errors.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { LANGUAGES } from '../../platform/languages.ts'
import { time } from '../../platform/validation/answer-fields.ts'
import { component, described, withMembers } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { quote } from '../../platform/validation/quote.ts'
import { todayOf } from '../../platform/zone.ts'
import * as rows from '../db/applications.ts'

/** Who invites the person whose proved address gets the link: no member of the team has seen it. */
const BY_NOBODY = 'sign-up'

const STATUSES = ['waiting', 'approved', 'rejected'] as const

/** Returns what an application is like; a domain that many affiliates share says nothing. */
function similarTo({ similar }: rows.StoredApplication) {
  const all: rows.Similar[] = JSON.parse(similar)
  const byKind = Object.values(Object.groupBy(all, ({ by }) => by))
  return byKind.flatMap((some = []) =>
    some.length > rows.MAX_SIMILAR && some[0]?.by === 'domain'
      ? []
      : some.slice(0, rows.MAX_SIMILAR),
  )
}

/** Returns an application as the administration API shows it. */
function present(stored: rows.StoredApplication) {
  const { status, applied_at, answers, excess: _, ...application } = stored
  return {
    ...application,
    // Only those of the other statuses are read.
    status: status as (typeof STATUSES)[number],
    applied_at: new Date(applied_at).toISOString(),
    answers: JSON.parse(answers) as { question: string; answer: string }[],
    similar: similarTo(stored),
  }
}

const application_id = member(
  v.string(),
  said('The id of the application.', 'app_01M7W0R4W8E3V15G8XPED3Z94X'),
)

const status = v.picklist(STATUSES)

const application = component('Application', () => ({
  id: application_id,
  status: member(status, '`waiting` for a decision, or what it was.'),
  applied_at: member(time, 'When the form was sent, and the terms were accepted.'),
  proved_at: nullable(
    time,
    'When the applicant proved the address with the link of a mail. Null: nobody has proved it.',
  ),
  name: member(v.string(), 'The name of the applicant.'),
  company: nullable(v.string(), 'Their company.'),
  country: member(v.string(), 'Their country, as an alpha-2 code of ISO 3166-1.'),
  website: member(v.string(), 'Their website or channels.'),
  promotion: member(v.string(), 'How they will promote.'),
  email: member(v.string(), 'Their e-mail address, in lower case.'),
  language: member(v.picklist(LANGUAGES), 'The language that they read.'),
  answers: member(
    v.array(v.object({ question: v.string(), answer: v.string() })),
    'The questions of the account as they were asked, with the answers.',
  ),
  terms_version: member(v.string(), 'The version of the terms that they accepted.'),
  parent: nullable(v.string(), 'The affiliate whose link led to the form.'),
  decided_at: nullable(time, 'When it was decided.'),
  decided_by: nullable(v.string(), 'Who decided.'),
  reason: nullable(v.string(), 'Why it was rejected.'),
  affiliate_id: nullable(v.string(), 'The affiliate that the approval has made.'),
  similar: member(
    v.array(
      v.object({
        by: member(v.picklist(['email', 'domain', 'name']), 'What is the same.'),
        affiliate_id: nullable(v.string(), 'The affiliate that has the same.'),
        application_id: nullable(v.string(), 'The other application that has the same.'),
      }),
    ),
    'What is like it: at most 5 of each. Affiliates of a domain are left out if there are more.',
  ),
}))

const params = { application_id }
const ofApplications = { topic: 'affiliates', path: '/applications', shows: 'account' } as const
const ofApplication = { ...ofApplications, path: '/applications/{application_id}', params } as const

/** Returns an application of the account. Throws `not_found`. */
async function findApplication({ db, account }: Call, id: string) {
  const found = await rows.findApplication(db, account.id, id)
  if (!found) throw notFound('application', id)
  return found
}

/** Returns an application that waits. Throws `not_found`, `conflict`. */
async function findWaiting(call: Call, id: string) {
  const found = await findApplication(call, id)
  if (found.status === 'waiting') return found
  throw new ApiError('conflict', {
    detail: `The application is ${found.status} already, by ${quote(found.decided_by ?? '')}.`,
  })
}

export const listApplications = list({
  ...ofApplications,
  id: 'listApplications',
  params: {
    status: optional(status, said('Returns only applications with this status.', 'waiting')),
  },
  words: described(() => ({
    description:
      'Lists the applications to become an affiliate, the latest first. Where e-mail is set up, one is listed once its address is proved.',
    answer: application,
    command: {
      name: 'applications list',
      columns: ['id', 'status', 'name', 'company', 'email', 'country', 'applied_at'],
    },
  })),
  async list({ db, account }, { status: wanted }, page) {
    const found = await rows.listApplications(db, account.id, wanted, page)
    return { ...found, data: found.data.map(present) }
  },
})

/** The most affiliates whose ids a name makes, before an id gets a random end. */
const SAME_NAMES = 50

/** Returns an id that no affiliate of the account has, made from a name. */
async function newAffiliateId({ db, account }: Call, name: string): Promise<string> {
  const words = name.normalize('NFKD').toLowerCase()
  const slug = words
    .replaceAll(/[^a-z\d]+/g, ' ')
    .trim()
    .replaceAll(' ', '-')
    .slice(0, 40)
  const base = slug.replace(/-$/, '') || 'affiliate'
  const ids = Array.from({ length: SAME_NAMES }, (_, i) => (i === 0 ? base : `${base}-${i + 1}`))
  const free = await unconfiguredAmong(db, account.id, ids)
  return ids.find((id) => free.has(id)) ?? `${base}-${crypto.randomUUID().slice(0, 8)}`
}

export const approveApplication = operation({
  ...ofApplication,
  path: `${ofApplication.path}/approve`,
  id: 'approveApplication',
  method: 'POST',
  role: 'manager',
  body: {
    affiliate_id: optional(
      f.affiliateId,
      said('The id of the new affiliate. If left out, it is made from the name.', 'forex-friends'),
    ),
    plan: optional(
      f.slug,
      said(
        'The plan of the affiliate. If left out, that of `sign_up`, else the one for all.',
        'ib',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Approves an application: makes the affiliate, with its plan and the affiliate who recommended it, and invites the applicant to the portal. If the address was proved and e-mail is set up, the link goes there alone; otherwise it is in the answer, and you send it.',
    answer: withMembers(application, {
      invitation_url: nullable(
        v.string(),
        'The link to hand over. Null: the applicant gets it by e-mail.',
      ),
    }),
    errors: ['conflict'],
    command: {
      name: 'applications approve',
      secret: 'invitation_url',
      recovery:
        'Run `applications list`: if it is approved, invite the affiliate with `members invite`.',
    },
  })),
  async run(call, { application_id: id, affiliate_id: chosen, plan: other }) {
    const { env, db, actor, account } = call
    const found = await findWaiting(call, id)
    const { name, company, email, language, parent } = found
    const display_name = company ?? name
    const affiliate_id = chosen ?? (await newAffiliateId(call, display_name))
    if (chosen && !(await unconfiguredAmong(db, account.id, [chosen])).has(chosen)) {
      throw new ApiError('conflict', { detail: `There is an affiliate ${quote(chosen)} already.` })
    }
    const plan = other ?? signUpOf(account).plan
    const affiliate = {
      pointer: '',
      affiliate_id,
      display_name,
      contact_email: email,
      language,
      ...(parent !== null && { parent }),
      ...(plan && { assignment: { plan, from: todayOf(account), customers: 'all' as const } }),
    }
    const prepared = await prepareAffiliates(call, { sent: [affiliate], issues: [] })
    const isMailed = found.proved_at !== null && hasMail(env)
    const author = isMailed ? BY_NOBODY : actor
    const invitation = await newInvitation(call, affiliate_id, author, email)
    const decision = {
      id,
      status: 'approved',
      affiliate_id,
      reason: null,
      decided_by: actor,
      decided_at: invitation.row.created_at,
    } as const
    const details = { id, affiliate_id, ...(plan && { plan }) }
    const entry = { actor, action: 'application.approve', account: account.id, details }
    const notice = {
      account: account.id,
      kind: 'application_approved',
      cause: invitation.row.id,
      // Not the address of the affiliate, which the team could have changed.
      recipient: { address: email, language },
      about: affiliate_id,
    } as const
    const isDone = await tryWithAudit(db, entry, [
      ...rows.decideApplication(db, account.id, decision),
      ...prepared.statements,
      ...invitation.statements,
      insertEntry(db, invitation.entry),
      ...(isMailed ? [noticeStatement(db, notice)] : []),
    ])
    if (!isDone) {
      await findWaiting(call, id)
      await prepared.refuseClosed()
      throw new ApiError('conflict', { detail: REFUSED })
    }
    const approved = present(await findApplication(call, id))
    return { ...approved, invitation_url: isMailed ? null : invitation.url }
  },
})

export const rejectApplication = operation({
  ...ofApplication,
  path: `${ofApplication.path}/reject`,
  id: 'rejectApplication',
  method: 'POST',
  role: 'manager',
  body: {
    reason: optional(
      f.remarkOf(500),
      said('Why, for the team. The applicant never reads it.', 'No website yet.'),
    ),
    send: optional(
      v.boolean(),
      said('Whether the applicant is told by e-mail. Only a proved address is written to.', true),
    ),
  },
  words: described(() => ({
    description: 'Rejects an application.',
    answer: application,
    errors: ['conflict'],
    command: { name: 'applications reject' },
  })),
  async run(call, { application_id: id, reason = null, send = false }) {
    const { db, actor, account } = call
    const { email, language, proved_at } = await findWaiting(call, id)
    if (send && proved_at === null) {
      const expected = 'false: nobody has proved the address, so no e-mail goes there'
      throw validationFailed([{ pointer: '/send', code: 'not_applicable', expected }])
    }
    const decision = {
      id,
      status: 'rejected',
      affiliate_id: null,
      reason,
      decided_by: actor,
      decided_at: new Date().toISOString(),
    } as const
    const notice = {
      account: account.id,
      kind: 'application_rejected',
      cause: id,
      recipient: { address: email, language },
    } as const
    const entry = { actor, action: 'application.reject', account: account.id, details: { id } }
    const isDone = await tryWithAudit(db, entry, [
      ...rows.decideApplication(db, account.id, decision),
      ...(send ? [noticeStatement(db, notice)] : []),
    ])
    if (!isDone) await findWaiting(call, id)
    return present(await findApplication(call, id))
  },
})

/** The operations on the applications to become an affiliate. */
export const APPLICATION_OPERATIONS = [listApplications, approveApplication, rejectApplication]
