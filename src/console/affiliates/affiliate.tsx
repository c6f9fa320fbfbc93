import { affiliate } from '../../affiliates/operations/affiliate-fields.ts'
import { listAffiliateFigures } from '../../affiliates/operations/affiliate-figures.ts'
import {
  endAffiliateKey,
  listAffiliateKeys,
  makeAffiliateKey,
} from '../../affiliates/operations/affiliate-keys.ts'
import { listAffiliatePostbacks } from '../../affiliates/operations/affiliate-postbacks.ts'
import {
  listAffiliates,
  listParents,
  putAffiliates,
} from '../../affiliates/operations/affiliates.ts'
import { listQuestions } from '../../affiliates/operations/questions.ts'
import { listPlans } from '../../commission/operations/plans.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import { allOf, type Change, type Page, type Values, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { pick } from '../../pages/form.ts'
import { Badge, Data, Day, isolated, titleOf } from '../../pages/parts/data.tsx'
import { AccountLink, Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm, type Option } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { secretOf } from '../../pages/parts/rotation.tsx'
import { changedMembers } from '../../pages/parts/schema.ts'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { PAYEE } from '../../payouts/operations/payees.ts'
import { mayBeShown } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { CasesOfAffiliate, readAffiliateCases } from '../fraud/case-parts.tsx'
import { PartyCard, partyChanges, Versions } from '../payouts/payee-parts.tsx'
import { Assignments, readAssignments, unassign } from '../plans/plans.tsx'
import { assignedText, assignFields, assignPlan } from './affiliate-forms.tsx'
import { AccessPart, memberChanges, readAccess } from './affiliate-members.tsx'
import { BalanceCell, EarnedCell, PlanCell } from './affiliates.tsx'
import { QuestionsBeside } from './questions.tsx'

async function readAffiliate(visit: Visit) {
  const { api, account, params } = visit
  const { affiliate_id = '' } = params
  const own = { account, affiliate_id }
  return allOf({
    plans: api.call(listPlans, { account }).then(({ data }) => data),
    assignments: readAssignments(visit, own),
    profile: api.call(listAffiliates, own).then(({ data }) => data[0]),
    figures: api.call(listAffiliateFigures, own).then(({ data }) => data[0]),
    parents: api.call(listParents, own),
    keys: api.call(listAffiliateKeys, own).catch(nullIfNotFound),
    cases: readAffiliateCases(visit, affiliate_id),
    access: readAccess(visit, affiliate_id),
    payee: api.call(PAYEE.get, own).catch(nullIfNotFound),
    versions: api.call(PAYEE.versions, own).catch(nullIfNotFound),
    planNames: visit.names.plans(),
    questions: api.call(listQuestions, { ...own, status: 'open' }).then(({ data }) => data),
    postbacks: api
      .call(listAffiliatePostbacks, own)
      .catch(nullIfNotFound)
      .then((found) => found?.data ?? []),
  })
}

const { display_name, contact_email, language, note } = affiliate

/** What the team knows of an affiliate. */
const PROFILE = { display_name, contact_email, language, note }

/** Returns a change of the affiliate of the page. */
const putting = (done: string, changed: (values: Values) => object): Change => ({
  done,
  perform: (values, { api, account, params: { affiliate_id = '' } }) =>
    api.call(putAffiliates, { account, affiliates: [{ affiliate_id, ...changed(values) }] }),
})

const changes: Readonly<Record<string, Change>> = {
  ...partyChanges(PAYEE),
  unassign,
  ...memberChanges,
  make_key: calling(makeAffiliateKey, secretOf('The key is made.', 'affiliate_key')),
  end_key: calling(endAffiliateKey, 'The key has ended.'),
  contact: putting('Name, contact and note are stored.', (values) =>
    changedMembers(PROFILE, values),
  ),
  parent: putting('The parent is stored.', (values) => ({
    parent: values('parent').trim() || null,
    ...pick(values, 'from'),
  })),
  suspend: putting(
    'The affiliate is suspended, and its members are signed out. It earns on.',
    () => ({ status: 'suspended' }),
  ),
  reinstate: putting('The affiliate is reinstated, and can sign in again.', () => ({
    status: 'active',
  })),
  assign: {
    done: assignedText,
    perform: (values, visit) => assignPlan(values, visit, [visit.params.affiliate_id ?? '']),
  },
}

/** Renders the form that suspends an affiliate, or reinstates it. */
const StatusForm = ({ isActive }: { isActive: boolean }) =>
  isActive ? (
    <FoldedForm change="suspend" title="Suspend the affiliate" submit="Suspend it" isDanger>
      <p>
        Its members are signed out at once. Until you reinstate it, nobody can sign in for it, and
        its keys are refused. It keeps what it earned, and earns on.
      </p>
    </FoldedForm>
  ) : (
    <FoldedForm change="reinstate" title="Reinstate the affiliate" submit="Reinstate it">
      <p>
        Its members can sign in again with their passkeys. Its keys work again, and so do
        invitations that have not ended.
      </p>
    </FoldedForm>
  )

/** The most keys that an affiliate can have at once. */
const MOST_KEYS = 5

const SCOPES: readonly Option[] = [
  ['read', 'Only read'],
  ['read links', 'Read, make links and postbacks, and ask'],
]

/** Renders the keys of an affiliate, and the forms that make and end one. */
const KeysPart = ({ keys }: { keys: AnswerOf<typeof listAffiliateKeys>['data'] }) => {
  const alive = keys.filter((key) => key.alive)
  return (
    <>
      <Table
        caption="Keys, with which a program reads what the affiliate earns"
        rows={keys.toReversed()}
        columns={{
          Name: ({ name }) => <Data text={name} />,
          May: ({ scope }) => SCOPES.find(([value]) => value === scope)?.[1] ?? scope,
          State: (key) => (
            <Badge tone={key.alive ? 'good' : 'quiet'}>{key.alive ? 'works' : 'ended'}</Badge>
          ),
          'Last used': ({ last_used_on }) => <Day day={last_used_on} />,
          Made: 'created_at',
          By: ({ created_by }) => <Data text={created_by} />,
        }}
        empty={<p class="note">The affiliate has no keys.</p>}
      />
      {alive.length < MOST_KEYS && (
        <ChangeForm
          change="make_key"
          submit="Make the key"
          needs="approver"
          fields={[
            { name: 'name', label: 'What it is for', required: true },
            { name: 'scope', label: 'It may', options: SCOPES },
          ]}
        >
          <p class="note">
            With a key, a program reads what the affiliate earns. It is shown once, after you have
            made it.
          </p>
        </ChangeForm>
      )}
      {alive.length > 0 && (
        <FoldedForm
          change="end_key"
          title="End a key"
          submit="End the key"
          needs="approver"
          isDanger
          fields={[
            {
              name: 'key_id',
              label: 'Key',
              options: alive.map(({ id, name }): Option => [id, isolated(name)]),
            },
          ]}
        >
          <p>Requests with it are refused at once. This cannot be undone.</p>
        </FoldedForm>
      )}
    </>
  )
}

/** An affiliate: what it earned and was paid, its plans, and who and what acts for it. */
export const affiliatePage: Page = {
  path: '/accounts/:account/affiliates/:affiliate_id',
  shows: 'affiliate',
  section: 'Affiliates',
  changes,
  async render(visit) {
    const affiliate_id = visit.params.affiliate_id ?? ''
    const found = await readAffiliate(visit)
    const [own] = found.parents.data
    const body = (
      <>
        {!own && (
          <p class="notice bad">
            The affiliate is not configured, so it earns nothing.{' '}
            <AccountLink at={['affiliates']} query={{ add: affiliate_id }} children="Add it" />
          </p>
        )}
        {found.profile?.status === 'suspended' && (
          <p class="notice warn">
            The affiliate is suspended: its members were signed out, nobody can sign in for it, and
            its keys are refused. It earns on. <a href="#portal">Reinstate it below</a>.
          </p>
        )}
        <CasesOfAffiliate found={found.cases} />
        <QuestionsBeside questions={found.questions} />
        {found.figures && (
          <Pairs
            pairs={[
              ['Plan', <PlanCell row={found.figures} />],
              ['Balance', <BalanceCell balances={found.figures.balances} />],
              [
                'Earned this period',
                <EarnedCell earned={found.figures.earned} now={visit.today} />,
              ],
            ]}
          />
        )}
        <h2>Plan</h2>
        <Assignments {...found.assignments} planNames={found.planNames} />
        {found.plans.length > 0 && (
          <FoldedForm
            change="assign"
            title="Assign a plan"
            submit="Assign the plan"
            at="/0"
            fields={assignFields(found.plans)}
          />
        )}
        {own && (
          <>
            <h2>Contact and referral</h2>
            <SchemaForm
              change="contact"
              submit="Save name, contact and note"
              at="/0"
              schemas={PROFILE}
              values={found.profile && { ...found.profile }}
            />
            <Table
              caption="Who referred the affiliate, by first day"
              rows={own.parents.filter(({ parent, from }) => parent !== null || from !== null)}
              columns={{
                Parent: ({ parent }) => <AffiliateLink id={parent} />,
                From: ({ from }) => (from === null ? 'the beginning' : <Day day={from} />),
              }}
              empty={<p class="note">Nobody referred the affiliate.</p>}
            />
            {mayBeShown(visit.member, 'account') && (
              <FoldedForm
                change="parent"
                title="Change the parent"
                submit="Save the parent"
                at="/0"
                fields={[
                  {
                    name: 'parent',
                    value: own.parents.at(-1)?.parent ?? '',
                    hint: 'Who referred this affiliate. If empty, nobody.',
                  },
                  { name: 'from', label: 'Parent since', type: 'date', hint: 'Today if empty.' },
                ]}
              />
            )}
          </>
        )}
        {found.payee && (
          <>
            <h2 id="bank">Bank details</h2>
            <PartyCard party="payee" shown={found.payee} />
            {found.versions && found.versions.data.length > 0 && <Versions {...found.versions} />}
          </>
        )}
        {found.profile && (
          <>
            <h2 id="portal">Portal</h2>
            {found.access && (
              <AccessPart
                access={found.access}
                isSuspended={found.profile.status === 'suspended'}
              />
            )}
            {found.keys && <KeysPart keys={found.keys.data} />}
            {found.postbacks.length > 0 && (
              <Table
                caption="Postbacks"
                rows={found.postbacks}
                columns={{
                  Address: ({ url }) => <Data text={url} />,
                  'What is sent': ({ events }) => events.map(titleOf).join(', '),
                  State: ({ disabled_reason: why }) => (why ? `disabled: ${why}` : 'active'),
                  Made: 'created_at',
                }}
              />
            )}
            {mayBeShown(visit.member, 'account') && (
              <StatusForm isActive={found.profile.status === 'active'} />
            )}
          </>
        )}
        <p class="quick">
          <AccountLink at={['statements']} query={{ affiliate_id }} children="Statements" />
          <AccountLink at={['ledger']} query={{ affiliate_id }} children="Ledger" />
          <AccountLink at={['links']} query={{ affiliate_id }} children="Links" />
          <AccountLink
            at={['questions']}
            query={{ status: 'all', affiliate_id }}
            children="Questions"
          />
          <AccountLink at={['unearned']} query={{ affiliate_id }}>
            What earned nothing
          </AccountLink>
          <AccountLink at={['reports']} query={{ group_by: 'affiliate_id' }}>
            Report by affiliate
          </AccountLink>
          <AccountLink at={['cases']} query={{ affiliate_id, status: 'all' }}>
            All cases
          </AccountLink>
        </p>
      </>
    )
    const name = found.profile?.display_name
    const id = isolated(affiliate_id)
    return { title: name ? `${isolated(name)} (${id})` : id, body }
  },
}
