import { affiliate } from '../../affiliates/affiliate-fields.ts'
import { listAffiliates, putAffiliates } from '../../affiliates/operations/affiliates.ts'
import { newLink } from '../../attribution/operations/link-fields.ts'
import { createLink, listLinks } from '../../attribution/operations/links.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { getPlan, listPlans, putAssignments } from '../../commission/operations/plans.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import { pick } from '../../pages/form.ts'
import {
  accountPath,
  type Change,
  dayBefore,
  useVisit,
  type Values,
  type Visit,
  withQuery,
} from '../../pages/page.ts'
import { dayWords, isolated, visible } from '../../pages/parts/data.tsx'
import { FoldedForm, type Input, type Option } from '../../pages/parts/forms.tsx'
import { changedMembers } from '../../pages/parts/schema.ts'
import { ApiError } from '../../platform/errors.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { validateFields } from '../../platform/http/read-fields.ts'

// The forms that add affiliates, with a plan and a link.

/** A plan, as lists show it. */
export type Plan = AnswerOf<typeof listPlans>['data'][number]

type Versions = Pick<Plan, 'in_force' | 'next'>

/** Says which version of a plan is in force, and which one comes. */
export function versionWords({ in_force, next }: Versions): string {
  const day = next ? dayWords(next.from) : ''
  if (in_force === null) {
    return next
      ? `Version ${next.version}, from ${day}; it also governs earlier days, as it is the first`
      : 'All versions are withdrawn'
  }
  const later = next ? `; version ${next.version} begins on ${day}` : ''
  return `Version ${in_force} is in force${later}`
}

/** Returns the day from which a plan is assigned if none is chosen: today, or its first day if that is later. */
export const startOf = (plan: Versions | undefined, now: number): string =>
  (plan?.in_force === null && plan.next?.from) || dayBefore(now, 0)

/** What the form of a new affiliate offers. */
export interface AddChoices {
  readonly plans: readonly Plan[]
  /** The landing page of a link of the account; null if it has no link. */
  readonly landingPage: string | null
}

/** Reads what the form of a new affiliate offers. */
export async function readAddChoices({
  api,
  account,
}: Pick<Visit, 'api' | 'account'>): Promise<AddChoices> {
  const [plans, links] = await Promise.all([
    api.call(listPlans, { account }),
    api.call(listLinks, { account, per_page: 1 }),
  ])
  return {
    plans: plans.data,
    landingPage: links.data[0]?.landing_page ?? null,
  }
}

/** Returns what a plan is called: its name, and its id where another plan has the same name. */
const planTitle = (
  { plan, name }: Pick<Plan, 'plan' | 'name'>,
  plans: readonly Pick<Plan, 'name'>[],
): string =>
  plans.filter((one) => one.name === name).length > 1
    ? `${isolated(name)} (${isolated(plan)})`
    : visible(name)

/** Returns the plans as choices, by their names. */
export const planOptions = (plans: readonly Pick<Plan, 'plan' | 'name'>[]): Option[] =>
  plans.map((one) => [one.plan, planTitle(one, plans)])

/** What an assignment has changed. */
interface Assigned {
  readonly received: number
  readonly changed: number
  readonly name: string
  readonly from: string
}

/** Says which plan was assigned, to how many affiliates, and from when on. */
export function assignedText(answer: unknown): string {
  const { received, changed, name, from } = answer as Assigned
  const had = received - changed
  const others = had > 0 ? ` ${counted(had, 'affiliate')} had this assignment before.` : ''
  return `${isolated(name)} is assigned to ${counted(changed, 'affiliate')} from ${dayWords(from)} on.${others}`
}

/** Makes the assignments of a form. Without a day, the plan is assigned from its start on. */
export const assignPlan = async (
  values: Values,
  { api, account, today, names }: Visit,
  affiliates: readonly string[],
): Promise<Assigned> => {
  const { plan, from, customers } = pick(values, 'plan', 'from', 'customers')
  const day = from || startOf(await readChosen({ api, account }, plan), today)
  const { received, changed } = await api.call(putAssignments, {
    account,
    assignments: affiliates.map((affiliate_id) => ({ affiliate_id, plan, from: day, customers })),
  })
  const name = (plan && (await names.plans()).get(plan)) || 'The plan'
  return { received, changed, name, from: day }
}

/** Reads a plan that was chosen; undefined if there is none. */
async function readChosen(
  { api, account }: Pick<Visit, 'api' | 'account'>,
  plan: string | undefined,
): Promise<Versions | undefined> {
  if (!plan) return undefined
  const found = await api.call(getPlan, { account, plan }).catch(nullIfNotFound)
  return found ?? undefined
}

/** For whom a plan is assigned. */
const ASSIGNED_FOR = new Map([
  ['all', 'All customers'],
  ['new', 'Customers who sign up from then on'],
])

/** Returns for whom a plan is assigned, in words. */
export const assignedFor = (customers: string): string => ASSIGNED_FOR.get(customers) ?? customers

/** Returns the fields that assign a plan, from its start on unless another day is chosen. */
export const assignFields = (plans: AddChoices['plans'], chosen?: string): Input[] => [
  { name: 'plan', options: planOptions(plans), value: chosen },
  {
    name: 'from',
    type: 'date',
    hint: 'If empty: today, or the first day of the plan if that is later. From an earlier day, its first version pays.',
  },
  {
    name: 'customers',
    label: 'For',
    options: [...ASSIGNED_FOR],
  },
]

const { affiliate_id: _, name: __, ...pageOfLink } = newLink

/** What was added. */
interface Added {
  readonly affiliate_id: string
  /** The id of the link; absent if none was made. */
  readonly link_id?: string
}

/** Adds an affiliate with a plan, and then a link if the form has one. */
export const addAffiliate: Change = {
  done(answer) {
    const { affiliate_id, link_id } = answer as Added
    return `${isolated(affiliate_id)} is stored${link_id ? ', and its link was created' : ''}.`
  },
  async perform(values, visit): Promise<Added> {
    const { api, account } = visit
    const { plan, landing_page } = pick(values, 'plan', 'landing_page')
    const sent = changedMembers(affiliate, values)
    // On the page of an affiliate, the new one is another.
    const affiliate_id = values('affiliate_id').trim()
    const known = await api.call(listAffiliates, { account, affiliate_id })
    if (affiliate_id !== '' && known.data.length > 0) {
      throw new ApiError('already_exists', { detail: `${isolated(affiliate_id)} exists already.` })
    }
    // Before the affiliate is stored.
    if (landing_page) validateFields({ landing_page }, pageOfLink)
    const from = startOf(await readChosen(visit, plan), visit.today)
    const assignment = plan ? { plan, from, customers: 'all' as const } : undefined
    await api.call(putAffiliates, { account, affiliates: [{ ...sent, affiliate_id, assignment }] })
    if (!landing_page) return { affiliate_id }
    const { link_id } = await api.call(createLink, { account, affiliate_id, landing_page })
    return { affiliate_id, link_id }
  },
  next(answer, { account }) {
    const { affiliate_id, link_id } = answer as Added
    return link_id
      ? withQuery(accountPath(account, 'links'), { link_id })
      : accountPath(account, 'affiliates', affiliate_id)
  },
}

/** Renders the form that adds an affiliate; `id` is one that customers name. */
export function AddForm(
  { choices: { plans, landingPage }, id }: { choices: AddChoices; id?: string | undefined },
  visit = useVisit(),
) {
  const exists = visit.refused?.change === 'add' && visit.refused.code === 'already_exists'
  const sent = exists ? visit.refused.values('affiliate_id').trim() : ''
  const link = exists && <a href={accountPath(visit.account, 'affiliates', sent)}>Open its page</a>
  return (
    <div class="add">
      <FoldedForm
        change="add"
        title="Add an affiliate"
        submit="Add the affiliate"
        at="/0"
        fields={[
          {
            ...{ name: 'affiliate_id', label: 'Id of the affiliate', required: true },
            value: id,
            hint: link,
          },
          {
            name: 'display_name',
            label: 'Name',
            hint: 'As your team calls them. It may be empty.',
          },
          { name: 'contact_email', label: 'E-mail', hint: 'It may be empty.' },
          { name: 'parent', hint: 'Who referred this affiliate, if anybody.' },
          {
            name: 'plan',
            pointer: '/0/assignment/plan',
            options: [['', 'The plan for all'], ...planOptions(plans)],
            hint: 'It applies from today on, or from its first day if that is later.',
          },
          {
            name: 'landing_page',
            label: 'Landing page of the link',
            pointer: '/landing_page',
            value: landingPage ?? undefined,
            placeholder: 'https://example.com/start',
            hint: 'If empty, no link is created.',
          },
        ]}
        isOpen={id !== undefined}
      />
    </div>
  )
}
