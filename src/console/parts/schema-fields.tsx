import type { Visit } from '../page.ts'
import { Sentence } from './data.tsx'
import { ChangeForm, type ChangeProps, Field, type Option } from './forms.tsx'
import { type Described, describe, formText, type Schemas } from './schema.ts'

interface Fields {
  readonly visit: Visit
  /** The change to which the fields belong. */
  readonly change: string
  readonly schemas: Schemas
  /** The present values; absent in a form that creates something. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  /** Whether all members are sent, not only those that were changed. */
  readonly sendsAll?: boolean
}

const WORDS: Readonly<Record<string, string>> = { true: 'yes', false: 'no', '*': 'all' }

function optionsOf({ choices, isRequired }: Described, value: string): readonly Option[] {
  const options = choices.map((choice): Option => [choice, WORDS[choice] ?? choice])
  return isRequired || value !== '' ? options : [['', 'Default'], ...options]
}

/** Renders a box for each choice of a list. */
function Choices({ name, described, form }: { name: string; described: Described; form: Fields }) {
  const { refused } = form.visit
  const sent = refused?.change === form.change ? refused.values : null
  const chosen = form.values?.[name]
  const isChosen = (choice: string) =>
    sent ? sent(`${name}:${choice}`) !== '' : Array.isArray(chosen) && chosen.includes(choice)
  return (
    <fieldset class="choices">
      <legend>{described.label}</legend>
      {described.choices.map((choice) => (
        <label>
          <input type="checkbox" name={`${name}:${choice}`} checked={isChosen(choice)} />{' '}
          {WORDS[choice] ?? choice}
        </label>
      ))}
      <p class="note">
        <Sentence text={described.description} />
      </p>
    </fieldset>
  )
}

/**
 * Renders the fields of a request from the schemas of its members, with the description of each.
 * `changedMembers` returns the members that the form has changed.
 */
export const SchemaFields = (form: Fields) => (
  <div class="members">
    {Object.entries(form.schemas).map(([name, schema]) => {
      const described = describe(name, schema)
      const value = form.values?.[name]
      const text = described.isList
        ? described.choices.filter((one) => Array.isArray(value) && value.includes(one)).join()
        : formText(value)
      const was = form.values && !form.sendsAll && (
        <input type="hidden" name={`was:${name}`} value={text} />
      )
      if (described.isList) {
        return (
          <>
            {was}
            <Choices name={name} described={described} form={form} />
          </>
        )
      }
      return (
        <>
          {was}
          <Field
            {...form}
            name={name}
            label={described.label}
            value={text}
            required={described.isRequired}
            placeholder={described.example}
            hint={<Sentence text={described.description} />}
            {...(described.example?.includes('\n') && { type: 'area' as const })}
            {...(described.choices.length > 0 && { options: optionsOf(described, text) })}
          />
        </>
      )
    })}
  </div>
)

/** Renders a form with the fields of a request. */
export const SchemaForm = (form: ChangeProps & Fields) => (
  <ChangeForm {...form}>
    <SchemaFields {...form} />
  </ChangeForm>
)
