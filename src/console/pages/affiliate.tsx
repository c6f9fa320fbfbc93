import { listAffiliatePostbacks, pausePostback } from '../../admin/affiliate-postbacks.ts'
import {
  deleteAffiliate,
  listAffiliates,
  listParents,
  putAffiliates,
} from '../../admin/affiliates.ts'
import { affiliate } from '../../admin/fields.ts'
import { getBalance, listLedger } from '../../admin/ledger.ts'
import { createLink, listLinks } from '../../admin/links.ts'
import { getPlanVersion } from '../../admin/plans.ts'
import { listQuestions } from '../../admin/questions.ts'
import { decimal, isZero } from '../../commission/engine/decimal.ts'
import type { PlanTerms } from '../../commission/engine/plan.ts'
import { ruleWords, termsWords } from '../../commission/engine/plan-words.ts'
import { withEveryone } from '../../commission/engine/plans-in-force.ts'
import { listStatements } from '../../commission/statements/operations.ts'
import type { AnswerOf } from '../../http/operation.ts'
import type { Language } from '../../languages.ts'
import { nullIfNotFound } from '../api-errors.ts'
import { calling } from '../calling.ts'
import { pick } from '../form.ts'
import {
  accountPath,
  allOf,
  type Change,
  dayBefore,
  type Page,
  useVisit,
  type Visit,
  withQuery,
} from '../page.ts'
import { seriesOf } from '../parts/affiliate-figures.tsx'
import {
  type AddChoices,
  AddForm,
  addAffiliate,
  assignedText,
  assignFields,
  assignPlan,
  type Plan,
  readAddChoices,
  versionWords,
} from '../parts/affiliate-forms.tsx'
import { AccessPart, memberChanges, readAccess, ViewForm } from '../parts/affiliate-members.tsx'
import { StatusForm, statusChanges } from '../parts/affiliate-status.tsx'
import { Actor } from '../parts/audit-words.tsx'
import { CasesOfAffiliate, readAffiliateCases } from '../parts/cases.tsx'
import {
  Badge,
  CopiedText,
  count,
  Data,
  Day,
  dayWords,
  EmptyState,
  isolated,
  Name,
  NOTHING,
  Pager,
  periodWords,
  shortName,
} from '../parts/data.tsx'
import { AccountLink, Pairs } from '../parts/fields.tsx'
import { FigureCard, Moneys, WholeText } from '../parts/figures.tsx'
import { ChangeForm, ConfirmForm, FoldedForm } from '../parts/forms.tsx'
import { AffiliateLink, PlanName } from '../parts/names.tsx'
import { lastDayOf } from '../parts/periods.ts'
import { Sentences } from '../parts/plan-words.tsx'
import { QuestionsBeside } from '../parts/questions.tsx'
import { changedMembers } from '../parts/schema.ts'
import { Statements } from '../parts/statement-lists.tsx'
import { Table } from '../parts/table.tsx'
import { type Assignment, Assignments, readAssignments, unassign } from './plans.tsx'

// Where an affiliate has events sent.

type Postback = AnswerOf<typeof listAffiliatePostbacks>['data'][number]

const switched = (disabled: boolean, done: string) =>
  calling(pausePostback, done, () => ({ disabled }))

/** The changes of the postbacks of the affiliate of a page. */
const postbackChanges: Readonly<Record<string, Change>> = {
  pause_postback: switched(true, 'The postback is paused. Nothing more is sent to it.'),
  resume_postback: switched(false, 'The postback goes on.'),
}

const STATES: Readonly<Record<string, string>> = {
  affiliate: 'paused by the affiliate',
  firm: 'paused by your team',
  gone: 'stopped: its server says that the address no longer exists',
  failing: 'stopped: every attempt of three days failed',
}

const EVENT_WORDS: Readonly<Record<string, string>> = {
  signup: 'signups',
  first_deposit: 'first deposits',
  qualified: 'customers who qualify',
  'commission.approved': 'approved commission',
  'commission.adjusted': 'corrected commission',
  'statement.paid': 'payments',
}

/** Renders what an affiliate has sent to their tracker, and the forms that pause a postback. */
const PostbacksPart = (props: { postbacks: readonly Postback[] }) => {
  const { postbacks } = props
  if (postbacks.length === 0) return null
  const optionsOf = (isPaused: boolean) =>
    postbacks
      .filter(({ disabled_reason }) => (disabled_reason === 'firm') === isPaused)
      .map(({ id, url }) => [id, url] as const)
  const [active, paused] = [optionsOf(false), optionsOf(true)]
  return (
    <>
      <Table
        caption="Postbacks"
        rows={postbacks}
        columns={{
          Address: ({ url }) => <Data text={url} />,
          'What is sent': ({ events }) =>
            events.map((type) => EVENT_WORDS[type] ?? type).join(', '),
          State: ({ disabled_reason }) =>
            disabled_reason === null ? 'active' : (STATES[disabled_reason] ?? ''),
          Made: 'created_at',
        }}
      />
      {active.length > 0 && (
        <FoldedForm
          change="pause_postback"
          title="Pause a postback"
          submit="Pause the postback"
          fields={[{ name: 'postback_id', label: 'Postback', options: active }]}
        >
          <p>The affiliate cannot end your pause. What waits to be sent is not sent.</p>
        </FoldedForm>
      )}
      {paused.length > 0 && (
        <FoldedForm
          change="resume_postback"
          title="Let a postback go on"
          submit="Let it go on"
          fields={[{ name: 'postback_id', label: 'Postback', options: paused }]}
        >
          <p>What happens from now on is sent again.</p>
        </FoldedForm>
      )}
    </>
  )
}

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

/** The statements that are read at once: those of 16 years of months. */
const READ = 200

type Link = AnswerOf<typeof listLinks>['data'][number]

/** The plan that governs customers who sign up today. */
interface PlanInForce {
  readonly plan: Plan
  readonly assignment: Assignment
  /** Whether no other was in force before: the first one also governs customers who signed up before it. */
  readonly isFirst: boolean
  /** Its terms; null if all its versions are withdrawn. */
  readonly terms: PlanTerms | null
}

/** Renders whose plan governs, and since when; and the plan in words. */
const PlanWords = ({ found }: { found: PlanInForce | null }) => {
  if (!found) {
    return (
      <p class="notice warn">
        No plan applies to the affiliate today, so it earns nothing. Assign one below.
      </p>
    )
  }
  const { plan, assignment, isFirst, terms } = found
  const rules = terms?.rules.map((rule) => ruleWords(rule, terms)) ?? []
  return (
    <>
      <p>
        <AccountLink at={['plans', plan.plan]}>
          <Name text={plan.name} />
        </AccountLink>{' '}
        applies from {dayWords(assignment.from)} on
        {assignment.affiliate_id === '*' && ', as to all affiliates without a plan of their own'}
        {assignment.customers === 'new' &&
          !isFirst &&
          ', to customers who sign up from that day on'}
        .
      </p>
      <p class="note">{versionWords(plan)}.</p>
      {terms &&
        [...rules.map(({ pays, limits }) => [pays, ...limits]), termsWords(terms)].map(
          (sentences) => <Sentences now={sentences} before={null} />,
        )}
    </>
  )
}

/** Reads the statements of an affiliate, the latest first: at most 200 of the last ones. */
async function readStatements({ api, account }: Visit, affiliate_id: string) {
  const query = { account, affiliate_id, order: 'latest', per_page: READ }
  const { data, meta } = await api.call(listStatements, query)
  const rows = data.toSorted((a, b) => lastDayOf(b.period) - lastDayOf(a.period))
  return { rows, total: meta.total }
}

/** Reads the plan of customers who sign up today; null if there is none. */
async function readPlanInForce(
  { api, account, today: now }: Visit,
  choices: Promise<AddChoices>,
  assignments: ReturnType<typeof readAssignments>,
): Promise<PlanInForce | null> {
  const today = dayBefore(now, 0)
  const { rows, forAll = [] } = (await assignments).found
  const governing = withEveryone(rows, forAll)
  const assignment = governing.findLast(({ from }) => from <= today)
  const plan = (await choices).plans.find((one) => one.plan === assignment?.plan)
  if (!assignment || !plan) return null
  const isFirst = assignment === governing[0]
  const version = plan.in_force ?? plan.next?.version
  if (version === undefined) return { plan, assignment, isFirst, terms: null }
  const { terms } = await api.call(getPlanVersion, { account, plan: plan.plan, version })
  return { plan, assignment, isFirst, terms }
}

/** Says which plan the affiliate has next. */
const NextPlan = ({ found }: { found: Found }, visit = useVisit()) => {
  const today = dayBefore(visit.today, 0)
  const { rows, forAll } = found.assignments.found
  const next = withEveryone(rows, forAll).find(({ from }) => from > today)
  const plan = found.choices.plans.find((one) => one.plan === next?.plan)
  if (!next || !plan) return null
  return (
    <p>
      From {dayWords(next.from)} on:{' '}
      <AccountLink at={['plans', plan.plan]}>
        <Name text={plan.name} />
      </AccountLink>
      {next.customers === 'new' && ', for customers who sign up from that day on'}.
    </p>
  )
}

async function readAffiliate(visit: Visit) {
  const { api, account, params, query } = visit
  const { affiliate_id = '' } = params
  const own = { account, affiliate_id }
  const choices = readAddChoices(visit)
  const assignments = readAssignments(visit, own)
  return allOf({
    choices,
    assignments,
    profile: api.call(listAffiliates, own).then(({ data }) => data[0]),
    parents: api.call(listParents, own),
    balances: api.call(getBalance, own).catch(nullIfNotFound),
    statements: readStatements(visit, affiliate_id),
    entries: api.call(listLedger, {
      ...{ ...own, order: 'latest', cursor: query.cursor, per_page: ENTRIES },
    }),
    links: api.call(listLinks, own),
    plan: readPlanInForce(visit, choices, assignments),
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

type Found = Awaited<ReturnType<typeof readAffiliate>>

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'German',
  es: 'Spanish',
  fr: 'French',
  pt: 'Portuguese',
}

const { display_name, contact_email, language, note } = affiliate

/** What the team knows of an affiliate. */
const PROFILE = { display_name, contact_email, language, note }

const changes: Readonly<Record<string, Change>> = {
  unassign,
  ...statusChanges,
  ...memberChanges,
  ...postbackChanges,
  add: addAffiliate,
  configure: {
    done: 'The affiliate is stored.',
    perform: (_, { api, account, params: { affiliate_id = '' } }) =>
      api.call(putAffiliates, { account, affiliates: [{ affiliate_id }] }),
  },
  assign: {
    done: assignedText,
    perform: (values, visit) => assignPlan(values, visit, [visit.params.affiliate_id ?? '']),
  },
  contact: {
    done: 'Name, contact and note are stored.',
    perform: (values, { api, account, params: { affiliate_id = '' } }) =>
      api.call(putAffiliates, {
        account,
        affiliates: [{ affiliate_id, ...changedMembers(PROFILE, values) }],
      }),
  },
  parent: {
    done: 'The parent is stored.',
    perform: (values, { api, account, params: { affiliate_id = '' } }) => {
      const parent = values('parent').trim() || null
      const changed = { affiliate_id, parent, ...pick(values, 'from') }
      return api.call(putAffiliates, { account, affiliates: [changed] })
    },
  },
  link: {
    ...calling(createLink, 'The link was created.'),
    next: (answer, { path }) => withQuery(path, { made: (answer as Link).link_id }),
  },
  remove: {
    ...calling(deleteAffiliate, 'The affiliate is deleted.'),
    confirm: ({ params }) => params.affiliate_id ?? '',
    next: (_, { account }) => accountPath(account, 'affiliates'),
  },
}

/** An affiliate: what it earned and was paid, its plans and its links. */
export const affiliatePage: Page = {
  path: '/accounts/:account/affiliates/:affiliate_id',
  section: 'Affiliates',
  hasNames: true,
  query: ['cursor', 'made'],
  changes,
  async render(visit) {
    const affiliate_id = visit.params.affiliate_id ?? ''
    const found = await readAffiliate(visit)
    const [own] = found.parents.data
    const { rows } = found.assignments.found
    const series = seriesOf(found.statements.rows, visit.today)
    const amountsOf = (name: 'balance' | 'due') =>
      (found.balances?.balances ?? []).flatMap((one) =>
        isZero(decimal(one[name])) ? [] : [{ amount: one[name], currency: one.currency }],
      )
    const due = amountsOf('due')
    const latest = found.statements.rows.slice(0, LISTED)
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
        <div class="figure-cards affiliate-figures">
          <FigureCard title="Balance">
            <Moneys amounts={amountsOf('balance')} none="0" />
            <p class="note">All that is booked and not paid.</p>
          </FigureCard>
          <FigureCard title="Payable">
            <Moneys amounts={due} none="Nothing" />
            {due.length > 0 && (
              <p>
                <AccountLink at={['payouts']} children="To the payouts" />
              </p>
            )}
          </FigureCard>
          {series.map((one) => {
            const [open, previous] = one.totals
            return (
              <FigureCard title={`Earned in ${periodWords(open?.period ?? '')}`}>
                <Moneys
                  amounts={[{ amount: open?.total ?? '0', currency: one.currency }]}
                  none=""
                />
                <p class="change">
                  So far;{' '}
                  <WholeText
                    amount={{ amount: previous?.total ?? '0', currency: one.currency }}
                    of={periodWords(previous?.period ?? '')}
                  />
                </p>
              </FigureCard>
            )
          })}
        </div>
        <h2>Plan</h2>
        <PlanWords found={found.plan} />
        <NextPlan found={found} />
        {rows.length > 0 && <Assignments found={{ rows }} planNames={found.planNames} />}
        {found.choices.plans.length > 0 && (
          <FoldedForm
            change="assign"
            title="Assign a plan"
            submit="Assign the plan"
            at="/0"
            fields={assignFields(found.choices.plans, visit.today)}
          />
        )}
        {own && (
          <>
            <h2>Contact and referral</h2>
            {found.profile && (
              <Pairs
                pairs={[
                  ['Name', <Data text={found.profile.display_name ?? 'none'} />],
                  [
                    'E-mail address',
                    found.profile.contact_email ? (
                      <a href={`mailto:${encodeURIComponent(found.profile.contact_email)}`}>
                        <Data text={found.profile.contact_email} />
                      </a>
                    ) : (
                      NOTHING
                    ),
                  ],
                  ['Language of the portal', LANGUAGE_NAMES[found.profile.language ?? 'en']],
                  ['Note of the team', <Data text={found.profile.note ?? 'none'} />],
                ]}
              />
            )}
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
              change="contact"
              title="Change name, contact and note"
              submit="Save name, contact and note"
              at="/0"
              fields={[
                { name: 'display_name', label: 'Name', value: found.profile?.display_name ?? '' },
                {
                  name: 'contact_email',
                  label: 'E-mail address',
                  value: found.profile?.contact_email ?? '',
                },
                {
                  name: 'language',
                  label: 'Language of the portal',
                  value: found.profile?.language ?? '',
                  options: [['', 'English, by default'], ...Object.entries(LANGUAGE_NAMES)],
                },
                {
                  name: 'note',
                  label: 'Note',
                  value: found.profile?.note ?? '',
                  hint: 'For the team only: the affiliate never sees it.',
                },
              ]}
            >
              {(Object.keys(PROFILE) as (keyof typeof PROFILE)[]).map((name) => (
                <input type="hidden" name={`was:${name}`} value={found.profile?.[name] ?? ''} />
              ))}
            </FoldedForm>
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
            {found.profile.status === 'active' && <ViewForm affiliate_id={affiliate_id} />}
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
            <StatusForm affiliate_id={affiliate_id} status={found.profile.status} />
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
          planNames={found.planNames}
          caption={`Statements, the latest first: ${count(latest.length)} of ${count(found.statements.total)}`}
          rows={latest}
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
        {own && (
          <>
            <h2>Delete the affiliate</h2>
            <p class="note">
              Only an affiliate that nothing names can be deleted: no customer, link, assignment,
              statement, entry or affiliate below.
            </p>
            <ConfirmForm change="remove" submit="Delete the affiliate" name={affiliate_id} />
          </>
        )}
      </>
    )
    const name = found.profile?.display_name
    const id = isolated(affiliate_id)
    return { title: name ? `${isolated(shortName(name))} (${id})` : id, body }
  },
}
