import { type Child, createContext, useContext } from 'hono/jsx'
import { transactionWord } from '../../commission/engine/plan-words.ts'
import type { FieldError, Values } from '../../pages/page.ts'
import { visible } from '../../pages/parts/data.tsx'
import { Control, ErrorTexts, InputField, Ticks } from '../../pages/parts/forms.tsx'
import type { Atom, Choice, EntryList, Field, Members, OneOf } from './form/fields.ts'
import { chosenForm, formPath, pointerOf, rowCount, tickedNames, tickNames } from './form/form.ts'

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

/** The form whose fields are rendered. */
export const PlanFormContext = createContext<PlanForm | null>(null)

/** Returns the form whose fields are rendered. A component has it as its second parameter. */
export function useForm(): PlanForm {
  const form = useContext(PlanFormContext)
  if (!form) throw new Error('A field was rendered outside of its form.')
  return form
}

interface Props<F> {
  readonly field: F
  /** The name of the field, or of its first part. */
  readonly name: string
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
const Exact = ({ name }: { name: string }, { values } = useForm()) => {
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

function AtomField({ field, name }: Props<Atom>, form = useForm()) {
  const { values, offers } = form
  const errors = errorsAt(form, pointerOf(name))
  if (field.is === 'ticks') {
    const known = field.options.length > 0 ? field.options.map(([one]) => one) : offers.transactions
    const all = [...new Set([...(known ?? []), ...tickNames(values, name)])]
    const labels = new Map(field.options)
    return (
      <>
        <input type="hidden" name={`${name}:all`} value={JSON.stringify(all)} />
        <Exact name={name} />
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
      <Exact name={name} />
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

/** Renders the errors of a list or of a rule as a whole. */
export function ListErrors({ name }: { name: string }, form = useForm()) {
  const errors = errorsAt(form, pointerOf(name), true)
  return errors.length === 0 ? null : (
    <p class="note wrong">
      <ErrorTexts errors={errors} />
    </p>
  )
}

interface RowsProps {
  readonly label: string
  readonly name: string
  /** The word for one row. */
  readonly one: string
  /** What a new row begins with. */
  readonly first: string
  readonly hint?: string | undefined
  readonly row: (at: string, i: number) => Child
}

/** Renders rows that can be removed, the errors of the list as a whole, and the button that adds a row. */
function Rows({ label, name, one, first, hint, row }: RowsProps, { values } = useForm()) {
  const count = rowCount(values, name)
  return (
    <fieldset class="rows" id={name}>
      <legend>{label}</legend>
      <input type="hidden" name={`${name}#`} value={String(count)} />
      <ListErrors name={name} />
      {Array.from({ length: count }, (_, i) => (
        <div class="row" id={`${name}/${i}-row`}>
          {row(`${name}/${i}`, i)}
          <RowButton does={`remove ${name}/${i}`} at={name} label={`Remove ${one} ${i + 1}`}>
            Remove
          </RowButton>
        </div>
      ))}
      <RowButton
        does={`add ${name} ${first}`}
        at={`${name}/${count}-row`}
        label={`Add a ${one} to ${label}`}
      >
        Add a {one}
      </RowButton>
      {hint && <span class="note"> {hint}</span>}
    </fieldset>
  )
}

/** Renders a list of entries. A group in it needs no name: the list has it. */
function RowsField({ field, name }: Props<EntryList>, form = useForm()) {
  const { label, one, hint, item } = field
  // A new row begins with the first form that the account can have.
  const first = item.is === 'oneOf' ? (offeredForms(item, '', form.offers)[0] ?? '') : ''
  return (
    <Rows
      {...{ label, name, one, first, hint }}
      row={(at) =>
        item.is === 'group' ? (
          <div class="plan-fields">
            <ErrorTexts errors={errorsAt(form, pointerOf(at), true)} />
            <Fields members={item.members} path={at} />
          </div>
        ) : (
          <FieldOf field={item} name={at} />
        )
      }
    />
  )
}

/** Returns the forms of which an account can have records, and the chosen one. */
const offeredForms = ({ forms }: OneOf, chosen: string, offers: Offers): string[] => {
  const { transactions, activity, hasEvents } = offers
  const without = [!transactions && 'transactions', !activity && 'activity', !hasEvents && 'event']
  return Object.keys(forms).filter((one) => one === chosen || !without.includes(one))
}

/** Returns whether the fields of a member have something. */
function isFilled(field: Field, name: string, values: Values): boolean {
  if (field.is === 'rows') return rowCount(values, name) > 0
  if (field.is === 'oneOf') return values(`${name}@`) !== ''
  if (field.is === 'ticks') return tickedNames(values, name).length > 0
  if (field.is !== 'group') return values(name) !== ''
  return Object.entries(field.members).some(([one, inner]) =>
    isFilled(inner, `${name}/${one}`, values),
  )
}

/** Renders the fields of members: those that are folded while they are empty stand last, below `title`. */
export const Fields = (
  props: { members: Members; path: string; title?: string | undefined },
  form = useForm(),
) => {
  const { members, path, title = 'More' } = props
  const all = Object.entries(members).map(([name, field]) => {
    const own = { field, name: path === '' ? name : `${path}/${name}` }
    const isUsed =
      isFilled(field, own.name, form.values) || errorsAt(form, pointerOf(own.name)).length > 0
    return { ...own, isUsed }
  })
  // Most parts have a name, which says nothing to people.
  const isFolded = ({ field, name, isUsed }: (typeof all)[number]) =>
    field.isFolded && (!isUsed || name.endsWith('/name'))
  const folded = all.filter(
    (one) =>
      isFolded(one) && (!one.field.condition || form.offers.conditions.has(one.field.condition)),
  )
  return (
    <>
      {all.map((one) => !isFolded(one) && <FieldOf {...one} />)}
      {folded.length > 0 && (
        <details>
          <summary>{title}</summary>
          <div class="plan-fields">
            {folded.map((one) => (
              <FieldOf {...one} />
            ))}
          </div>
        </details>
      )}
    </>
  )
}

/** Renders the choice between forms, and the fields of each. The style sheet shows those of the chosen one. */
function OneOfField({ field, name }: Props<OneOf>, form = useForm()) {
  const [chosen = ''] = chosenForm(field, name, form.values) ?? []
  const offered = offeredForms(field, chosen, form.offers)
  const options = offered.map((one): Choice => [one, field.forms[one]?.label ?? one])
  const isOptional = field.none !== undefined || chosen === ''
  return (
    <div class="one-of" id={`${name}-forms`}>
      <InputField
        id={`${name}@`}
        name={`${name}@`}
        label={field.label}
        hint={field.hint}
        errors={errorsAt(form, pointerOf(name), true)}
        options={isOptional ? [['', field.none ?? 'Choose'], ...options] : options}
        value={chosen}
      />
      {offered.map((one) => (
        <div data-for={one}>
          <Fields members={field.forms[one]?.members ?? {}} path={formPath(name, one)} />
        </div>
      ))}
    </div>
  )
}

/** Renders a field of a plan. */
export function FieldOf({ field, name }: Props<Field>, form = useForm()): Child {
  switch (field.is) {
    case 'group':
      return (
        <fieldset class="group" id={name}>
          <legend>{field.label}</legend>
          <ErrorTexts errors={errorsAt(form, pointerOf(name), true)} />
          <div class="plan-fields">
            <Fields members={field.members} path={name} title={field.more} />
          </div>
        </fieldset>
      )
    case 'rows':
      return <RowsField field={field} name={name} />
    case 'oneOf':
      return <OneOfField field={field} name={name} />
    default:
      return <AtomField field={field} name={name} />
  }
}
