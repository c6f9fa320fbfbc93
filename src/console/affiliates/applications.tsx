import { listPlans } from '../../commission/operations/plans.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import type { Page } from '../../pages/base/page.ts'
import type { ShownSecret } from '../../pages/base/session.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, Data, EmptyState, Pager, Time, visible } from '../../pages/parts/data.tsx'
import { AccountLink, type Pair, Pairs } from '../../pages/parts/fields.tsx'
import { Filters, FoldedForm, type Option } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import {
  approveApplication,
  listApplications,
  rejectApplication,
} from '../../people/operations/applications.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { actorTitle } from './audit-words.tsx'

/** An application as the administration API returns it. */
type Application = AnswerOf<typeof listApplications>['data'][number]

const Proof = ({ proved_at }: Pick<Application, 'proved_at'>) => (
  <Badge tone={proved_at ? 'good' : 'warn'}>{proved_at ? 'proved' : 'not proved'}</Badge>
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
          <AccountLink at={['applications']} query={{ status: 'all' }}>
            <Data text={`another application, ${application_id}`} />
          </AccountLink>
        )}
      </div>
    ))}
  </>
)

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

/** Renders an application: what the applicant wrote, what is like it, and what became of it. */
const Shown = ({ one }: { one: Application }) => (
  <article class="thread">
    <h2>
      <Data text={one.company ?? one.name} />
    </h2>
    <Pairs
      pairs={[
        ['Name', <Data text={one.name} />],
        ['Country', ENGLISH.country(one.country)],
        ['E-mail', <Data text={one.email} />],
        ['Address', <Proof {...one} />],
        ['Website or channels', <Data text={one.website} />],
        ['How they will promote', <Data text={one.promotion} />],
        ...one.answers.map(
          ({ question, answer }): Pair => [visible(question), <Data text={answer} />],
        ),
        ['Recommended by', one.parent && <AffiliateLink id={one.parent} />],
        ['What is like it', one.similar.length > 0 ? <Similar {...one} /> : null],
        ['Applied', <Time at={one.applied_at} />],
        ['Accepted terms', <Data text={one.terms_version} />],
        ['State', one.status],
        ['Decided by', one.decided_by && <Data text={actorTitle(one.decided_by)} />],
        ['Reason', one.reason && <Data text={one.reason} />],
        ['Affiliate', one.affiliate_id && <AffiliateLink id={one.affiliate_id} />],
      ]}
    />
  </article>
)

/** Renders the forms that decide on an application that waits. */
const Decisions = ({ waiting, plans }: { waiting: readonly Application[]; plans: Option[] }) => {
  const options = waiting.map(
    ({ id, name, company, email }): Option => [id, visible(`${company ?? name}, ${email}`)],
  )
  const which = { name: 'application_id', label: 'Applicant', options }
  return (
    <>
      <FoldedForm
        change="approve"
        submit="Approve"
        isOpen
        fields={[
          which,
          { name: 'affiliate_id', label: 'Id', hint: 'If empty, it is made from the name.' },
          { name: 'plan', label: 'Plan', options: [['', 'As the settings say'], ...plans] },
        ]}
      >
        <p class="note">Makes the affiliate, and invites the applicant to the portal.</p>
      </FoldedForm>
      <FoldedForm
        change="reject"
        submit="Reject"
        isDanger
        fields={[
          which,
          { name: 'reason', hint: 'For the team: the applicant never reads it.' },
          {
            name: 'send',
            label: 'Tell the applicant by e-mail',
            hint: 'Only a proved address is written to.',
            options: [
              ['false', 'No'],
              ['true', 'Yes'],
            ],
          },
        ]}
      />
    </>
  )
}

/** The applications of an account, those that wait unless another filter is chosen, and the forms that decide. */
export const applicationsPage: Page = {
  path: '/accounts/:account/applications',
  section: 'Applications',
  shows: 'account',
  query: ['status', 'cursor'],
  changes: {
    approve: calling(approveApplication, approvedWords),
    reject: calling(rejectApplication, 'The application is rejected.'),
  },
  async render({ api, account, query: { status = 'waiting', ...query } }) {
    const own = status !== 'all' && { status }
    const [{ data, meta }, plans] = await Promise.all([
      api.call(listApplications, { ...query, ...own, account }),
      api.call(listPlans, { account }),
    ])
    const waiting = data.filter((one) => one.status === 'waiting')
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
        {data.map((one) => (
          <Shown one={one} />
        ))}
        {data.length === 0 && (
          <EmptyState title="No application matches.">
            <p>
              Affiliates apply on a page of the portal, once you have opened it in{' '}
              <AccountLink at={['account']}>the settings</AccountLink>.
            </p>
          </EmptyState>
        )}
        <Pager meta={meta} />
        {waiting.length > 0 && (
          <Decisions
            waiting={waiting}
            plans={plans.data.map(({ plan, name }): Option => [plan, name])}
          />
        )}
      </>
    )
    return { title: 'Applications', body }
  },
}
