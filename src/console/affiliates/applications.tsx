import type { Child } from 'hono/jsx'
import { listPlans } from '../../commission/operations/plans.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { type Page, useVisit } from '../../pages/base/page.ts'
import type { ShownSecret } from '../../pages/base/session.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, Data, EmptyState, Pager, Time, visible } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters, FoldedForm } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import {
  approveApplication,
  getApplication,
  listApplications,
  rejectApplication,
} from '../../people/operations/applications.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { actorTitle } from './audit-words.tsx'

/** An application as the administration API returns it. */
type Application = AnswerOf<typeof getApplication>

const Proof = ({ proved_at }: Pick<Application, 'proved_at'>) =>
  proved_at === null ? (
    <Badge tone="warn">address not proved</Badge>
  ) : (
    <Badge tone="good">address proved</Badge>
  )

const WHAT = { email: 'Same e-mail', domain: 'Same domain', name: 'Same name' } as const

/** Renders what an application is like. */
const Similar = ({ similar }: Pick<Application, 'similar'>) => (
  <>
    {similar.map(({ by, affiliate_id, application_id }) => (
      <div>
        <Badge tone="warn">{WHAT[by]}</Badge>{' '}
        {affiliate_id !== null ? (
          <AffiliateLink id={affiliate_id} />
        ) : (
          <AccountLink at={['applications', application_id ?? '']}>another application</AccountLink>
        )}
      </div>
    ))}
  </>
)

/** Says what became of an application. */
const State = ({ application }: { application: Application }): Child => {
  const { status, affiliate_id, decided_by } = application
  if (status === 'waiting') return <Badge tone="warn">waits</Badge>
  const isApproved = status === 'approved'
  return (
    <>
      <Badge tone={isApproved ? 'good' : 'quiet'}>{status}</Badge> by{' '}
      <Data text={actorTitle(decided_by ?? '')} />
      {affiliate_id !== null && (
        <>
          : <AffiliateLink id={affiliate_id} />
        </>
      )}
    </>
  )
}

/** Says what an approval has done; with the link, if it is to be handed over. */
function approvedWords(answer: unknown): string | ShownSecret {
  const { affiliate_id, invitation_url } = answer as AnswerOf<typeof approveApplication>
  if (invitation_url === null)
    return `The affiliate ${affiliate_id} is made. The applicant gets the link to the portal by e-mail.`
  return {
    title: `The affiliate ${affiliate_id} is made.`,
    note: 'Send this link to the applicant. It works once, within 72 hours, and is not shown again.',
    values: [['Link', invitation_url]],
  }
}

const approve = calling(approveApplication, approvedWords)

/** Renders the button that approves an application of the list. */
const ApproveButton = ({ id, name }: Pick<Application, 'id' | 'name'>, visit = useVisit()) =>
  isAtLeast(visit.member.role, 'manager') ? (
    <form method="post" action={visit.path}>
      <input type="hidden" name="csrf" value={visit.csrf} />
      <input type="hidden" name="change" value="approve" />
      <input type="hidden" name="application_id" value={id} />
      <button type="submit" class="plain" aria-label={`Approve ${visible(name)}`}>
        Approve
      </button>
    </form>
  ) : null

/** The applications of an account: those that wait, unless another filter is chosen. */
export const applicationsPage: Page = {
  path: '/accounts/:account/applications',
  shows: 'account',
  section: 'Applications',
  query: ['status', 'cursor'],
  changes: { approve },
  async render({ api, account, query: { status = 'waiting', ...query } }) {
    const own = status !== 'all' && { status }
    const { data, meta } = await api.call(listApplications, { ...query, ...own, account })
    const body = (
      <>
        <Filters
          fields={[
            {
              name: 'status',
              label: 'Show',
              value: status,
              options: [
                ['waiting', 'Those that wait for a decision'],
                ['approved', 'Those that were approved'],
                ['rejected', 'Those that were rejected'],
                ['all', 'All'],
              ],
            },
          ]}
        />
        <Table
          caption="Applications"
          rows={data}
          columns={{
            Applicant: ({ id, name, company, email }) => (
              <>
                <AccountLink at={['applications', id]}>
                  <Data text={company ?? name} />
                </AccountLink>
                <small>
                  <Data text={email} />
                </small>
              </>
            ),
            Address: (row) => <Proof {...row} />,
            Channels: { prose: ({ website }) => <Data text={website} /> },
            Country: ({ country }) => ENGLISH.country(country),
            'What is like it': (row) => <Similar {...row} />,
            State: (row) => (
              <>
                <State application={row} />
                {row.status === 'waiting' && <ApproveButton {...row} />}
              </>
            ),
            Applied: ({ applied_at }) => <Time at={applied_at} />,
          }}
          empty={
            <EmptyState title="No application matches.">
              <p>
                Affiliates apply on a page of the portal, once you have opened it in{' '}
                <AccountLink at={['account']}>the settings</AccountLink>.
              </p>
            </EmptyState>
          }
        />
        <Pager meta={meta} />
      </>
    )
    return { title: 'Applications', body }
  },
}

/** Renders what was written on several lines. */
const Words = ({ text }: { text: string }) => (
  <div class="message-text">
    <Data text={text} />
  </div>
)

/** The rows of what somebody has applied with. */
const factsOf = (application: Application): readonly (readonly [string, Child])[] => [
  ['Name', <Data text={application.name} />],
  ['Company', <Data text={application.company ?? '–'} />],
  [
    'E-mail',
    <>
      <Data text={application.email} /> <Proof {...application} />
    </>,
  ],
  ['Country', ENGLISH.country(application.country)],
  ['Website or channels', <Data text={application.website} />],
  ['How they will promote', <Words text={application.promotion} />],
  ...application.answers.map(
    ({ question, answer }) => [question, <Words text={answer} />] as const,
  ),
  ['Recommended by', application.parent === null ? '–' : <AffiliateLink id={application.parent} />],
  ['Accepted terms', <Data text={application.terms_version} />],
  ['Applied', <Time at={application.applied_at} />],
  ['What is like it', application.similar.length === 0 ? 'Nothing' : <Similar {...application} />],
]

/** An application, and the forms that decide on it. */
export const applicationPage: Page = {
  path: '/accounts/:account/applications/:application_id',
  shows: 'account',
  section: 'Applications',
  changes: {
    approve,
    approve_as: approve,
    reject: calling(rejectApplication, 'The application is rejected.'),
  },
  async render({ api, account, params: { application_id = '' } }) {
    const [application, plans] = await Promise.all([
      api.call(getApplication, { account, application_id }),
      api.call(listPlans, { account }),
    ])
    const isProved = application.proved_at !== null
    const body = (
      <>
        <p class="lead">
          <State application={application} />
        </p>
        {application.status === 'waiting' && (
          <ChangeForm change="approve" submit="Approve">
            <p class="note">Makes the affiliate, and invites the applicant to the portal.</p>
          </ChangeForm>
        )}
        <Table
          isNarrow
          caption="What they wrote"
          rows={factsOf(application)}
          columns={{
            Field: ([name]) => <Data text={name} />,
            Text: { prose: ([, value]) => value },
          }}
        />
        {application.status === 'waiting' && (
          <>
            <FoldedForm
              change="approve_as"
              title="Approve with another id or plan"
              submit="Approve so"
              fields={[
                { name: 'affiliate_id', label: 'Id', hint: 'If empty, it is made from the name.' },
                {
                  name: 'plan',
                  label: 'Plan',
                  options: [
                    ['', 'As the settings say'],
                    ...plans.data.map(({ plan, name }) => [plan, name] as const),
                  ],
                },
              ]}
            />
            <FoldedForm
              change="reject"
              title="Reject"
              submit="Reject the application"
              isDanger
              fields={[
                {
                  name: 'reason',
                  label: 'Reason',
                  hint: 'For the team: the applicant never reads it.',
                },
                ...(isProved
                  ? [
                      {
                        name: 'send',
                        label: 'Tell the applicant by e-mail',
                        options: [
                          ['true', 'Yes'],
                          ['false', 'No'],
                        ] as const,
                      },
                    ]
                  : []),
              ]}
            />
          </>
        )}
      </>
    )
    return { title: `Application of ${visible(application.name)}`, body }
  },
}
