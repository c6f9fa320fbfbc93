import { ApiError } from '../../errors.ts'
import { type Step, sendInOrder } from '../in-order.ts'
import { accountPath, apiPath, type Change, dayBefore, type Values, type Visit } from '../page.ts'
import { dayWords, isolated, type List, visible } from './data.tsx'
import { FoldedForm, type Input, type Option } from './forms.tsx'

// The forms that add affiliates, with a plan and a link.

/** A plan that can be chosen. */
export interface ChosenPlan {
  readonly plan: string
  readonly name: string
  /** The version in force; null if none is. */
  readonly in_force: number | null
}

/** What the form of a new affiliate offers. */
export interface AddChoices {
  readonly plans: readonly ChosenPlan[]
  /** The landing page of a link of the account; null if it has no link. */
  readonly landingPage: string | null
}

/** Reads what the form of a new affiliate offers. */
export async function readAddChoices({
  api,
  account,
}: Pick<Visit, 'api' | 'account'>): Promise<AddChoices> {
  const [plans, links] = await Promise.all([
    api.get<Pick<List<ChosenPlan>, 'data'>>(apiPath(account, 'plans')),
    api.get<List<{ landing_page: string }>>(apiPath(account, 'links'), { per_page: 1 }),
  ])
  return { plans: plans.data, landingPage: links.data[0]?.landing_page ?? null }
}

/** Returns the plans as choices, by their names. */
export const planOptions = (plans: AddChoices['plans']): Option[] =>
  plans.map(({ plan, name }) => [
    plan,
    name === plan ? visible(plan) : `${isolated(name)} (${isolated(plan)})`,
  ])

/** Returns the fields that assign a plan, from today unless another day is chosen. */
export const assignFields = (plans: AddChoices['plans'], now: number): Input[] => [
  { name: 'plan', options: planOptions(plans) },
  { name: 'from', label: 'From', type: 'date', required: true, value: dayBefore(now, 0) },
  {
    name: 'customers',
    label: 'For',
    options: [
      ['all', 'All customers'],
      ['new', 'Customers who sign up from then on'],
    ],
  },
]

/** What the form of a new affiliate asks for. Empty texts are left out. */
interface NewAffiliate {
  readonly affiliate_id: string
  readonly display_name: string
  readonly parent: string
  readonly plan: string
  readonly landing_page: string
}

const readNew = (values: Values): NewAffiliate => ({
  affiliate_id: values('affiliate_id').trim(),
  display_name: values('display_name').trim(),
  parent: values('parent').trim(),
  plan: values('plan'),
  landing_page: values('landing_page').trim(),
})

/** What is stored of an affiliate. */
interface Known {
  readonly isConfigured: boolean
  /** The plan of its latest assignment; null if it has none of its own. */
  readonly assigned: { readonly plan: string; readonly from: string } | null
}

async function readKnown(
  { api, account }: Pick<Visit, 'api' | 'account'>,
  affiliate_id: string,
): Promise<Known> {
  if (affiliate_id === '') return { isConfigured: false, assigned: null }
  type Assignments = List<{ plan: string; from: string }>
  const [parents, assignments] = await Promise.all([
    api.get<List<unknown>>(apiPath(account, 'affiliates', 'parents'), { affiliate_id }),
    api.get<Assignments>(apiPath(account, 'assignments'), { affiliate_id }),
  ])
  return {
    isConfigured: parents.data.length > 0,
    assigned: assignments.data.at(-1) ?? null,
  }
}

const refused = (pointer: string, message: string) =>
  new ApiError('validation_failed', {
    detail: 'Nothing was changed.',
    errors: [{ pointer, message }],
  })

/**
 * Refuses an affiliate that exists: the member may not know it, and would give it another plan and link.
 *
 * @throws ApiError `validation_failed`
 */
function checkKnown(sent: NewAffiliate, { isConfigured, assigned }: Known): void {
  if (isConfigured) throw refused('/0/affiliate_id', existsWords(sent.affiliate_id))
  if (sent.plan && assigned && assigned.plan !== sent.plan) {
    const since = `the plan ${assigned.plan} from ${dayWords(assigned.from)}`
    throw refused(
      '/0/plan',
      `${sent.affiliate_id} has ${since} on. Assign another one on its page.`,
    )
  }
}

const existsWords = (affiliate_id: string) => `${affiliate_id} exists already.`

/** Returns the requests that add an affiliate, without those that would change nothing. */
function stepsOf(sent: NewAffiliate, known: Known, { account, now }: Visit): Step[] {
  const { affiliate_id, display_name, parent, plan, landing_page } = sent
  const id = isolated(affiliate_id)
  const from = dayBefore(now, 0)
  const steps: (Step | false)[] = [
    {
      request: {
        method: 'PUT',
        path: apiPath(account, 'affiliates'),
        query: { only_new: 'true' },
        body: [
          {
            ...(affiliate_id && { affiliate_id }),
            ...(display_name && { display_name }),
            ...(parent && { parent }),
          },
        ],
      },
      done: `${id} is stored.`,
      notDone: `${id} was not stored.`,
    },
    plan !== '' &&
      known.assigned?.plan !== plan && {
        request: {
          method: 'PUT',
          path: apiPath(account, 'assignments'),
          body: [{ affiliate_id, plan, from, customers: 'all' }],
        },
        done: `The plan ${isolated(plan)} applies from ${dayWords(from)} on.`,
        notDone: 'The plan was not assigned.',
      },
    landing_page !== '' && {
      request: {
        method: 'POST',
        path: apiPath(account, 'links'),
        body: { affiliate_id, landing_page },
      },
      done: 'The link was created.',
      notDone: 'The link was not created. Add it on the page of the affiliate.',
    },
  ]
  return steps.filter((step) => step !== false)
}

/** What was added, for the message. */
interface Added {
  readonly affiliate_id: string
  readonly done: string
}

/** Adds an affiliate, assigns a plan to it, and creates a link for it. */
export const addAffiliate: Change = {
  async perform(values, visit): Promise<Added> {
    const sent = readNew(values)
    const known = await readKnown(visit, sent.affiliate_id)
    checkKnown(sent, known)
    const steps = stepsOf(sent, known, visit)
    await sendInOrder(visit.api, steps).catch(async (error: unknown) => {
      const isFirst = error instanceof ApiError && error.details.detail?.endsWith('exists already.')
      throw isFirst ? refused('/0/affiliate_id', existsWords(sent.affiliate_id)) : error
    })
    return { affiliate_id: sent.affiliate_id, done: steps.map(({ done }) => done).join(' ') }
  },
  done: (answer) => (answer as Added).done,
  next: (answer, { account }) => accountPath(account, 'affiliates', (answer as Added).affiliate_id),
}

/** Renders the form that adds an affiliate, with the values of its first fields. */
export function AddForm({
  visit,
  title,
  choices: { plans, landingPage },
  id,
  parent,
}: {
  visit: Visit
  title: string
  choices: AddChoices
  id?: string | undefined
  parent?: string
}) {
  const sent = visit.refused?.change === 'add' ? readNew(visit.refused.values).affiliate_id : ''
  const exists = visit.refused?.errors.some(({ message }) => message === existsWords(sent))
  const link = exists && <a href={accountPath(visit.account, 'affiliates', sent)}>Open its page</a>
  const fields: Input[] = [
    { name: 'affiliate_id', label: 'Id of the affiliate', value: id, required: true, hint: link },
    { name: 'display_name', label: 'Name', hint: 'As your team calls them. It may be empty.' },
    { name: 'parent', value: parent, hint: 'Who referred this affiliate, if anybody.' },
    {
      name: 'plan',
      options: [['', 'The plan for all'], ...planOptions(plans)],
      hint: 'It applies from today on.',
    },
    {
      name: 'landing_page',
      label: 'Landing page of the link',
      pointer: '/landing_page',
      value: landingPage ?? undefined,
      placeholder: 'https://example.com/start',
      hint: 'If empty, no link is created.',
    },
  ]
  return (
    <div class="add">
      <FoldedForm
        visit={visit}
        change="add"
        title={title}
        submit="Add the affiliate"
        at="/0"
        fields={fields}
        isOpen={id !== undefined}
      />
    </div>
  )
}
