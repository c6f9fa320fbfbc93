import { affiliate } from '../../affiliates/affiliate-fields.ts'
import { listAffiliateFigures } from '../../affiliates/operations/affiliate-figures.ts'
import { listAffiliatePostbacks } from '../../affiliates/operations/affiliate-postbacks.ts'
import {
  listAffiliates,
  listParents,
  putAffiliates,
} from '../../affiliates/operations/affiliates.ts'
import { listQuestions } from '../../affiliates/operations/questions.ts'
import { createLink, listLinks } from '../../attribution/operations/links.ts'
import { listLedger } from '../../books/operations/ledger.ts'
import { listStatements } from '../../commission/statements/operations.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import { calling } from '../../pages/calling.ts'
import { pick } from '../../pages/form.ts'
import {
  allOf,
  type Change,
  type Page,
  type Values,
  type Visit,
  withQuery,
} from '../../pages/page.ts'
import {
  Badge,
  CopiedText,
  Data,
  Day,
  EmptyState,
  isolated,
  Name,
  NOTHING,
  Pager,
  periodWords,
  shortName,
  titleOf,
} from '../../pages/parts/data.tsx'
import type { WordsOf } from '../../pages/parts/field-words.ts'
import { AccountLink, Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import { AffiliateLink, PlanName } from '../../pages/parts/names.tsx'
import { changedMembers } from '../../pages/parts/schema.ts'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { Statements } from '../../pages/parts/statement-lists.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { CasesOfAffiliate, readAffiliateCases } from '../fraud/case-parts.tsx'
import { Assignments, readAssignments, unassign } from '../plans/plans.tsx'
import { BalanceCell, EarnedCell, PlanCell } from './affiliate-figures.tsx'
import {
  AddForm,
  addAffiliate,
  assignedText,
  assignFields,
  assignPlan,
  readAddChoices,
} from './affiliate-forms.tsx'
import { AccessPart, memberChanges, readAccess } from './affiliate-members.tsx'
import { Actor } from './audit-words.tsx'
import { QuestionsBeside } from './question-parts.tsx'

type Postback = AnswerOf<typeof listAffiliatePostbacks>['data'][number]

const STATES: Readonly<Record<string, string>> = {
  affiliate: 'paused by the affiliate',
  gone: 'stopped: its server says that the address no longer exists',
  failing: 'stopped: every attempt of three days failed',
}

/** Renders what an affiliate has sent to their tracker. */
const PostbacksPart = ({ postbacks }: { postbacks: readonly Postback[] }) =>
  postbacks.length === 0 ? null : (
    <Table
      caption="Postbacks"
      rows={postbacks}
      columns={{
        Address: ({ url }) => <Data text={url} />,
        'What is sent': ({ events }) => events.map(titleOf).join(', '),
        State: ({ disabled_reason }) => STATES[disabled_reason ?? ''] ?? 'active',
        Made: 'created_at',
      }}
    />
  )

// The ledger of an affiliate, in words.

type LedgerEntry = AnswerOf<typeof listLedger>['data'][number]

/** What an entry booked, before the name of its statement. */
const ENTRY_WORDS: Readonly<Record<LedgerEntry['kind'], string>> = {
  earned: 'Earned for',
  adjusted: 'Corrections of earlier periods, with the statement of',
  manual: 'Entered by hand, with the statement of',
  dropped: 'A negative balance written off, with the statement of',
  transferred: 'Moved between plans, with the statement of',
  paid: 'Paid for',
  returned: 'A payment came back for',
}

/** The statements that are listed; the others are on their own page. */
const LISTED = 12

/** The entries of the ledger of one page. */
const ENTRIES = 25

type Link = AnswerOf<typeof listLinks>['data'][number]

async function readAffiliate(visit: Visit) {
  const { api, account, params, query } = visit
  const { affiliate_id = '' } = params
  const own = { account, affiliate_id }
  return allOf({
    choices: readAddChoices(visit),
    assignments: readAssignments(visit, own),
    profile: api.call(listAffiliates, own).then(({ data }) => data[0]),
    figures: api.call(listAffiliateFigures, own).then(({ data }) => data[0]),
    parents: api.call(listParents, own),
    statements: api.call(listStatements, { ...own, order: 'latest', per_page: LISTED }),
    entries: api.call(listLedger, {
      ...{ ...own, order: 'latest', cursor: query.cursor, per_page: ENTRIES },
    }),
    links: api.call(listLinks, own),
    cases: readAffiliateCases(visit, affiliate_id),
    access: readAccess(visit, affiliate_id),
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

const PROFILE_WORDS = {
  display_name: { label: 'Name', hint: '' },
  contact_email: { label: 'E-mail address', hint: '' },
  language: {
    label: 'Language of the portal',
    hint: 'Default: English.',
    choices: { en: 'English', de: 'German', es: 'Spanish', fr: 'French', pt: 'Portuguese' },
  },
  note: { label: 'Note', hint: 'For the team only: the affiliate never sees it.' },
} satisfies WordsOf<keyof typeof PROFILE>

/** Returns a change of the affiliate of the page. */
const putting = (done: string, changed: (values: Values) => object): Change => ({
  done,
  perform: (values, { api, account, params: { affiliate_id = '' } }) =>
    api.call(putAffiliates, { account, affiliates: [{ affiliate_id, ...changed(values) }] }),
})

const changes: Readonly<Record<string, Change>> = {
  unassign,
  ...memberChanges,
  add: addAffiliate,
  configure: putting('The affiliate is stored.', () => ({})),
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
  link: {
    ...calling(createLink, 'The link was created.'),
    next: (answer, { path }) => withQuery(path, { made: (answer as Link).link_id }),
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

/** An affiliate: what it earned and was paid, its plans and its links. */
export const affiliatePage: Page = {
  path: '/accounts/:account/affiliates/:affiliate_id',
  section: 'Affiliates',
  query: ['cursor', 'made'],
  changes,
  async render(visit) {
    const affiliate_id = visit.params.affiliate_id ?? ''
    const found = await readAffiliate(visit)
    const [own] = found.parents.data
    const made = found.links.data.find(({ link_id }) => link_id === visit.query.made)
    const body = (
      <>
        {made && (
          <div class="notice good">
            <p>
              <strong>The link to give to the affiliate</strong>
            </p>
            <p>
              <CopiedText text={made.url} />
            </p>
          </div>
        )}
        {!own && (
          <ChangeForm change="configure" submit="Configure it">
            <p class="notice bad">The affiliate is not configured, so it earns nothing.</p>
          </ChangeForm>
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
        <Assignments found={found.assignments.found} planNames={found.planNames} />
        {found.choices.plans.length > 0 && (
          <FoldedForm
            change="assign"
            title="Assign a plan"
            submit="Assign the plan"
            at="/0"
            fields={assignFields(found.choices.plans)}
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
              words={PROFILE_WORDS}
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
            <AddForm title="Add an affiliate below" choices={found.choices} parent={affiliate_id} />
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
            <p>
              <AccountLink at={['affiliates', affiliate_id, 'keys']}>
                Keys of the affiliate
              </AccountLink>
              , with which a program reads what the affiliate earns. All its{' '}
              <AccountLink at={['questions']} query={{ status: 'all', affiliate_id }}>
                questions
              </AccountLink>
              , with the answers.
            </p>
            <PostbacksPart postbacks={found.postbacks} />
            <StatusForm isActive={found.profile.status === 'active'} />
          </>
        )}
        <h2>Links</h2>
        <Table
          caption="Links"
          rows={found.links.data}
          columns={{
            Address: ({ url, link_id }) => (
              <AccountLink at={['links']} query={{ link_id }}>
                {url}
              </AccountLink>
            ),
            Name: ({ name }) => (name === null ? NOTHING : <Name text={name} />),
            'Landing page': ({ landing_page }) => <Data text={landing_page} />,
            State: ({ disabled }) =>
              disabled ? <Badge tone="bad">disabled</Badge> : <Badge tone="good">active</Badge>,
          }}
          empty={<p class="note">The affiliate has no links yet.</p>}
        />
        {own && (
          <FoldedForm
            change="link"
            title="Add a link"
            submit="Create the link"
            fields={[
              {
                name: 'landing_page',
                required: true,
                value: found.choices.landingPage ?? undefined,
                placeholder: 'https://example.com/start',
              },
              { name: 'name', label: 'Name of the link', hint: 'Such as “Spring newsletter”.' },
            ]}
          />
        )}
        <h2>Statements</h2>
        <Statements
          isOfAffiliate
          caption="Statements, the latest first"
          rows={found.statements.data}
          empty={
            <EmptyState title="No statement yet.">
              <p>
                <AccountLink at={['statements']} children="Compute a period" />.
              </p>
            </EmptyState>
          }
        />
        <p class="quick">
          <AccountLink at={['statements']} query={{ affiliate_id }}>
            All statements
          </AccountLink>
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
        <h2>Ledger</h2>
        <Table
          caption="Ledger, the latest entry first. The balance is the sum of all entries."
          rows={found.entries.data}
          columns={{
            When: 'at',
            What: {
              prose: ({ kind, statement, period, plan, reference }) => (
                <>
                  {ENTRY_WORDS[kind]}{' '}
                  <AccountLink at={['statements', statement]}>{periodWords(period)}</AccountLink> by
                  the plan <PlanName id={plan} />
                  {reference !== null && (
                    <>
                      ,{' '}
                      {kind === 'transferred' ? (
                        <PlanName id={reference} />
                      ) : (
                        <>
                          reference <Data text={reference} />
                        </>
                      )}
                    </>
                  )}
                </>
              ),
            },
            Amount: 'amount',
            By: ({ actor }) => <Actor actor={actor} />,
          }}
          empty={
            <EmptyState title="Nothing has been booked yet.">
              <p>Approving a statement books what it earned.</p>
            </EmptyState>
          }
        />
        <Pager meta={found.entries.meta} />
      </>
    )
    const name = found.profile?.display_name
    const id = isolated(affiliate_id)
    return { title: name ? `${isolated(shortName(name))} (${id})` : id, body }
  },
}
