import type { Child } from 'hono/jsx'
import { transactionWord } from '../../commission/engine/plan-words.ts'
import type { FieldError, Values } from '../page.ts'
import {
  type Atom,
  type Choice,
  CONDITIONS,
  type EntryList,
  type Field,
  type Group,
  type Members,
  type OneOf,
  SIZES,
  type When,
} from '../plan/fields.ts'
import {
  chosenForm,
  listItems,
  memberName,
  pointerOf,
  rowCount,
  tickedNames,
  tickNames,
} from '../plan/form.ts'
import { conditionLabel } from '../plan/places.ts'
import { visible } from './data.tsx'
import { Control, ErrorTexts, InputField, Ticks } from './forms.tsx'

// The fields of a plan, from their descriptions.

/** What the account has, for the fields of a plan. */
export interface Offers {
  /** The types of transactions; null for brands, which send none. */
  readonly transactions: readonly string[] | null
  /** The figures of trading activity; null for brands. */
  readonly activity: readonly string[] | null
  /** Whether the account sends events. */
  readonly hasEvents: boolean
  /** The conditions that can hold for some record, without `not_`. */
  readonly conditions: ReadonlySet<string>
  /** The lists that are in the page: the browser proposes their values. */
  readonly lists: ReadonlySet<string>
}

/** What the fields of a plan show. */
export interface PlanForm {
  readonly values: Values
  readonly errors: readonly FieldError[]
  readonly offers: Offers
}

interface Props<F> {
  readonly field: F
  /** The name of the field, or of its first part. */
  readonly name: string
  readonly form: PlanForm
}

/** Returns the errors that point at one of these pointers, or into it. */
export const errorsAt = (
  { errors }: PlanForm,
  pointer: string,
  isExact = false,
): readonly FieldError[] =>
  errors.filter(
    (one) => one.pointer === pointer || (!isExact && one.pointer?.startsWith(`${pointer}/`)),
  )

/** Renders what keeps the exact value of a field while its text is unchanged. */
const Exact = ({ name, form: { values } }: Omit<Props<Atom>, 'field'>) => {
  const exact = values(`${name}=`)
  return exact === '' ? null : <input type="hidden" name={`${name}=`} value={exact} />
}

/** Returns the options of a choice; nothing chosen is shown as what it means. */
function optionsOf(options: readonly Choice[], isRequired: boolean | undefined, value: string) {
  const [first, ...others] = options
  if (isRequired) return value === '' ? [['', 'Choose'] as const, ...options] : options
  return value === first?.[0] || !first ? options : [['', first[1]] as const, ...others]
}

const wordOf = (type: string): string => {
  const words = visible(transactionWord(type))
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns the choices of a field; undefined for a text. */
function choicesOf(field: Atom, name: string, { values, offers }: PlanForm) {
  const value = values(name)
  if (field.is === 'flag') {
    return [[value === 'false' ? 'false' : '', 'No'] as const, ['true', 'Yes'] as const]
  }
  if (field.is !== 'choice') return undefined
  const { activity } = offers
  const isOffered = ([one]: Choice) =>
    field.offer !== 'activity' || one === value || (activity?.includes(one) ?? true)
  return optionsOf(field.options.filter(isOffered), field.isRequired, value)
}

function AtomField({ field, name, form }: Props<Atom>) {
  const { values, offers } = form
  const errors = errorsAt(form, pointerOf(name))
  if (field.is === 'ticks') {
    const known = field.options.length > 0 ? field.options.map(([one]) => one) : offers.transactions
    const all = [...new Set([...(known ?? []), ...tickNames(values, name)])]
    const labels = new Map(field.options)
    return (
      <>
        <input type="hidden" name={`${name}:all`} value={JSON.stringify(all)} />
        <Exact name={name} form={form} />
        <Ticks
          id={name}
          title={field.label}
          errors={errors}
          ticks={all.map((one) => ({
            name: `${name}:${one}`,
            label: labels.get(one) ?? wordOf(one),
            isTicked: values(`${name}:${one}`) !== '',
          }))}
        />
      </>
    )
  }
  const { offer } = field
  return (
    <InputField
      id={name}
      name={name}
      label={field.label}
      hint={field.hint}
      errors={errors}
      value={values(name)}
      type={field.is === 'day' ? 'date' : 'text'}
      options={choicesOf(field, name, form)}
      placeholder={field.placeholder}
      attributes={{
        inputmode: field.is === 'whole' ? 'numeric' : undefined,
        list: offer && offers.lists.has(offer) ? `offer-${offer}` : undefined,
        'data-list': field.is === 'list' ? '' : undefined,
      }}
    >
      {field.is === 'times' && (
        <Control
          name={`${name}+`}
          options={[
            ['plus', 'is added'],
            ['minus', 'is deducted'],
          ]}
          value={values(`${name}+`) || 'plus'}
          attributes={{ 'aria-label': 'Whether it is added or deducted' }}
        />
      )}
      <Exact name={name} form={form} />
    </InputField>
  )
}

interface RowButtonProps {
  /** What the button does, such as `add rules/0/base`. */
  readonly does: string
  /** The id of the element that the browser then shows. */
  readonly at: string
  readonly label?: string
  readonly children?: Child
}

/** Renders a button that shows the form again with a row more or less. Nothing is stored. */
export const RowButton = ({ does, at, label, children }: RowButtonProps) => (
  <button
    type="submit"
    name="do"
    value={does}
    class="plain"
    formaction={`#${at}`}
    formnovalidate
    aria-label={label}
  >
    {children}
  </button>
)

/** Returns the form with which a new row begins: the first that the account can have. */
function firstForm({ item }: EntryList, offers: Offers): string {
  return item.is === 'oneOf' ? (offeredForms(item, '', offers)[0] ?? '') : ''
}

/** Renders the fields of a row. Those of a group need no name: the list has it. */
const RowFields = ({ field, name, form }: Props<Field>) =>
  field.is === 'group' ? (
    <div class="plan-fields">
      <ErrorTexts errors={errorsAt(form, pointerOf(name), true)} />
      <MemberFields members={field.members} path={name} form={form} />
    </div>
  ) : (
    <FieldOf field={field} name={name} form={form} />
  )

/** Renders the errors of a list or of a rule as a whole. */
export function ListErrors({ name, form }: { name: string; form: PlanForm }) {
  const errors = errorsAt(form, pointerOf(name), true)
  return errors.length === 0 ? null : (
    <p class="note wrong">
      <ErrorTexts errors={errors} />
    </p>
  )
}

/** Renders a list of rows: its title, how many rows it has, and the errors of the list as a whole. */
function ListFrame(props: {
  label: string
  name: string
  count: number
  form: PlanForm
  children?: Child
}) {
  const { label, name, count, form, children } = props
  return (
    <fieldset class="rows" id={name}>
      <legend>{label}</legend>
      <input type="hidden" name={`${name}#`} value={String(count)} />
      <ListErrors name={name} form={form} />
      {children}
    </fieldset>
  )
}

/** Renders a list whose entries can be removed, and the button that adds one. */
function RowsField({ field, name, form }: Props<EntryList>) {
  const count = rowCount(form.values, name)
  return (
    <ListFrame label={field.label} name={name} count={count} form={form}>
      {Array.from({ length: count }, (_, i) => (
        <div class="row" id={`${name}/${i}-row`}>
          <RowFields field={field.item} name={`${name}/${i}`} form={form} />
          <RowButton does={`remove ${name}/${i}`} at={name} label={`Remove ${field.one} ${i + 1}`}>
            Remove
          </RowButton>
        </div>
      ))}
      <RowButton
        does={`add ${name} ${firstForm(field, form.offers)}`}
        at={`${name}/${count}-row`}
        label={`Add a ${field.one} to ${field.label}`}
      >
        Add a {field.one}
      </RowButton>
      {field.hint && <span class="note"> {field.hint}</span>}
    </ListFrame>
  )
}

/** Returns whether an account can have records of a form. */
function isOffered(form: string, { transactions, activity, hasEvents }: Offers): boolean {
  if (form === 'transactions') return transactions !== null
  if (form === 'activity') return activity !== null
  return form === 'event' ? hasEvents : true
}

const offeredForms = ({ forms }: OneOf, chosen: string, offers: Offers): string[] =>
  Object.keys(forms).filter((one) => one === chosen || isOffered(one, offers))

/** Returns whether the fields of a member have something. */
function isFilled(field: Field, name: string, values: Values): boolean {
  if (field.is === 'when' || field.is === 'rows') return rowCount(values, name) > 0
  if (field.is === 'oneOf') return values(`${name}@`) !== ''
  if (field.is === 'ticks') return tickedNames(values, name).length > 0
  if (field.is !== 'group') return values(name) !== ''
  return Object.entries(field.members).some(([one, inner]) =>
    isFilled(inner, `${name}/${one}`, values),
  )
}

/** Renders fields that are folded while they are empty and have no error. */
export const FoldedFields = ({
  title,
  fields,
  form,
}: {
  title: string
  fields: readonly { readonly field: Field; readonly name: string; readonly forms?: string }[]
  form: PlanForm
}) => (
  <details
    open={fields.some(
      ({ field, name }) =>
        // Most parts have a name, which says nothing to people.
        (!name.endsWith('/name') && isFilled(field, name, form.values)) ||
        errorsAt(form, pointerOf(name)).length > 0,
    )}
  >
    <summary>{title}</summary>
    <div class="plan-fields">
      {fields.map(({ field, name, forms }) => (
        <div data-for={forms}>
          <FieldOf field={field} name={name} form={form} />
        </div>
      ))}
    </div>
  </details>
)

/** Renders the choice between forms, and the fields of each. The style sheet shows those of the chosen one. */
function OneOfField({ field, name, form }: Props<OneOf>) {
  const [chosen = ''] = chosenForm(field, name, form.values) ?? []
  const offered = offeredForms(field, chosen, form.offers)
  const options = offered.map((one): Choice => [one, field.forms[one]?.label ?? one])
  const none: readonly Choice[] = [['', field.none ?? 'Choose']]
  const isOptional = field.none !== undefined || chosen === ''
  // A member that several forms have with the same meaning is one field.
  const members = new Map<string, { field: Field; name: string; forms: string }>()
  for (const one of offered) {
    for (const [member, own] of Object.entries(field.forms[one]?.members ?? {})) {
      const at = memberName(name, field, one, member)
      const forms = [members.get(at)?.forms, one].filter(Boolean).join(' ')
      members.set(at, { field: own, name: at, forms })
    }
  }
  // Those that several forms share come last.
  const all = [...members.values()].sort(
    (a, b) => Number(a.forms.includes(' ')) - Number(b.forms.includes(' ')),
  )
  const folded = all.filter(({ field: own }) => own.isFolded)
  const errors = errorsAt(form, pointerOf(name), true)
  return (
    <div class="one-of" id={`${name}-forms`}>
      <InputField
        id={`${name}@`}
        name={`${name}@`}
        label={field.label}
        hint={field.hint}
        errors={errors}
        options={isOptional ? [...none, ...options] : options}
        value={chosen}
      />
      {all.map(
        (one) =>
          !one.field.isFolded && (
            <div data-for={one.forms}>
              <FieldOf {...one} form={form} />
            </div>
          ),
      )}
      {folded.length > 0 && (
        <div data-for={[...new Set(folded.flatMap(({ forms }) => forms.split(' ')))].join(' ')}>
          <FoldedFields title="More" fields={folded} form={form} />
        </div>
      )}
    </div>
  )
}

/**
 * Returns the errors of a row of conditions. Rows of the same condition are one list of the plan, in which each
 * row has its values.
 */
function conditionErrors(form: PlanForm, name: string, row: number): readonly FieldError[] {
  const { values } = form
  const chosen = values(`${name}/${row}@`)
  const pointer = `${pointerOf(name)}/${chosen}`
  const countOf = (i: number) => listItems(values(`${name}/${i}`)).length
  let first = 0
  for (let i = 0; i < row; i++) if (values(`${name}/${i}@`) === chosen) first += countOf(i)
  const isOwn = ({ pointer: at = '' }: FieldError) => {
    const [, index] = /^\/(\d+)/.exec(at.slice(pointer.length)) ?? []
    const position = Number(index ?? first)
    return position >= first && position < first + Math.max(countOf(row), 1)
  }
  return [
    ...errorsAt(form, `${pointerOf(name)}/${row}`),
    ...(chosen ? errorsAt(form, pointer).filter(isOwn) : []),
  ]
}

/** Renders a row for each condition. */
function WhenField({ field, name, form }: Props<When>) {
  const { values, offers } = form
  const count = rowCount(values, name)
  const known = Object.entries(CONDITIONS).flatMap(([one, { ofRecord }]) =>
    offers.conditions.has(one) && (field.ofRecords || !ofRecord) ? [one, `not_${one}`] : [],
  )
  const sizes = offers.conditions.has('account_size') ? SIZES.map(([one]) => one) : []
  return (
    <ListFrame label={field.label} name={name} count={count} form={form}>
      {Array.from({ length: count }, (_, i) => {
        const at = `${name}/${i}`
        const chosen = values(`${at}@`)
        const all = [...new Set([...known, ...sizes, ...(chosen ? [chosen] : [])])]
        const errors = conditionErrors(form, name, i)
        const base = chosen.replace(/^not_/, '')
        const example = Object.hasOwn(CONDITIONS, base) ? CONDITIONS[base]?.example : undefined
        return (
          <div class="row condition" id={`${at}-row`}>
            <div class={errors.length > 0 ? 'field wrong' : 'field'}>
              <Control
                name={`${at}@`}
                options={[
                  ...(chosen ? [] : [['', 'Choose'] as const]),
                  ...all.map((one): Choice => [one, conditionLabel(one)]),
                ]}
                value={chosen}
                attributes={{ 'aria-label': `Condition ${i + 1}` }}
              />
              <Control
                id={at}
                name={at}
                value={values(at)}
                placeholder={example && `such as ${example}`}
                hintId={errors.length > 0 ? `${at}-about` : undefined}
                attributes={{
                  list: offers.lists.has(base) ? `offer-${base}` : undefined,
                  'data-list': '',
                  'aria-label': `Values of condition ${i + 1}, with commas`,
                }}
              />
              <Exact name={at} form={form} />
              {errors.length > 0 && (
                <p class="note" id={`${at}-about`}>
                  <ErrorTexts errors={errors} />
                </p>
              )}
            </div>
            <RowButton does={`remove ${at}`} at={name} label={`Remove condition ${i + 1}`}>
              Remove
            </RowButton>
          </div>
        )
      })}
      <RowButton
        does={`add ${name} ${field.ofRecords && offers.transactions ? 'instruments' : 'countries'}`}
        at={`${name}/${count}-row`}
        label={`Add a condition to ${field.label}`}
      >
        Add a condition
      </RowButton>
    </ListFrame>
  )
}

/** Renders the fields of members. */
export const MemberFields = ({
  members,
  path,
  form,
}: {
  members: Members
  path: string
  form: PlanForm
}) => (
  <>
    {Object.entries(members).map(([name, field]) => (
      <FieldOf field={field} name={path === '' ? name : `${path}/${name}`} form={form} />
    ))}
  </>
)

/** Renders members together. */
function GroupField({ field, name, form }: Props<Group>) {
  const all = Object.entries(field.members)
  const folded = all.filter(([, own]) => own.isFolded)
  const shown = Object.fromEntries(all.filter(([, own]) => !own.isFolded))
  return (
    <fieldset class="group" id={name}>
      <legend>{field.label}</legend>
      <ErrorTexts errors={errorsAt(form, pointerOf(name), true)} />
      <div class="plan-fields">
        <MemberFields members={shown} path={name} form={form} />
      </div>
      {folded.length > 0 && (
        <FoldedFields
          title="More"
          fields={folded.map(([member, own]) => ({ field: own, name: `${name}/${member}` }))}
          form={form}
        />
      )}
    </fieldset>
  )
}

/** Renders a field of a plan. */
export function FieldOf({ field, name, form }: Props<Field>): Child {
  switch (field.is) {
    case 'group':
      return <GroupField field={field} name={name} form={form} />
    case 'rows':
      return <RowsField field={field} name={name} form={form} />
    case 'oneOf':
      return <OneOfField field={field} name={name} form={form} />
    case 'when':
      return <WhenField field={field} name={name} form={form} />
    default:
      return <AtomField field={field} name={name} form={form} />
  }
}
