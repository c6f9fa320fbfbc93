import { useVisit } from '../page.ts'
import type { FieldWords, WordsOf } from './field-words.ts'
import { ChangeForm, type ChangeProps, Field, type Option } from './forms.tsx'
import { type Described, describe, formText, type Schemas } from './schema.ts'

interface Fields<S extends Schemas> {
  /** The change to which the fields belong. */
  readonly change: string
  readonly schemas: S
  /** The words of each field. */
  readonly words: WordsOf<keyof S & string>
  /** The present values; absent in a form that creates something. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  /** Whether all members are sent, not only those that were changed. */
  readonly sendsAll?: boolean
}

const YES_NO: Readonly<Record<string, string>> = { true: 'yes', false: 'no' }

const choiceWords = ({ choices }: FieldWords, choice: string) =>
  choices?.[choice] ?? YES_NO[choice] ?? choice

function optionsOf(
  { choices, isRequired }: Described,
  words: FieldWords,
  value: string,
): readonly Option[] {
  const options = choices.map((choice): Option => [choice, choiceWords(words, choice)])
  return isRequired || value !== '' ? options : [['', 'Default'], ...options]
}

/** Renders a box for each choice of a list. */
function Choices(
  props: {
    name: string
    described: Described
    words: FieldWords
    form: Omit<Fields<Schemas>, 'words'>
  },
  { refused } = useVisit(),
) {
  const { name, described, words, form } = props
  const sent = refused?.change === form.change ? refused.values : null
  const chosen = form.values?.[name]
  const isChosen = (choice: string) =>
    sent ? sent(`${name}:${choice}`) !== '' : Array.isArray(chosen) && chosen.includes(choice)
  return (
    <fieldset class="choices">
      <legend>{words.label}</legend>
      {described.choices.map((choice) => (
        <label>
          <input type="checkbox" name={`${name}:${choice}`} checked={isChosen(choice)} />{' '}
          {choiceWords(words, choice)}
        </label>
      ))}
      <p class="note">{words.hint}</p>
    </fieldset>
  )
}

/**
 * Renders the fields of a request from the schemas of its members, each with its words.
 * `changedMembers` returns the members that the form has changed.
 */
export const SchemaFields = <S extends Schemas>({ words: allWords, ...form }: Fields<S>) => (
  <div class="members">
    {Object.entries(form.schemas).map(([name, schema]) => {
      const described = describe(schema)
      const words: FieldWords | undefined = allWords[name]
      // The type of `words` has every name of `schemas`.
      if (!words) return null
      const value = form.values?.[name]
      const text = described.isList
        ? described.choices.filter((one) => Array.isArray(value) && value.includes(one)).join()
        : formText(value, words.scale)
      const was = form.values && !form.sendsAll && (
        <input type="hidden" name={`was:${name}`} value={text} />
      )
      if (described.isList) {
        return (
          <>
            {was}
            <Choices name={name} described={described} words={words} form={form} />
          </>
        )
      }
      return (
        <>
          {was}
          <Field
            {...form}
            name={name}
            label={words.label}
            value={text}
            required={described.isRequired}
            placeholder={described.example && formText(described.example, words.scale)}
            hint={words.hint}
            {...(described.example?.includes('\n') && { type: 'area' as const })}
            {...(described.choices.length > 0 && { options: optionsOf(described, words, text) })}
          />
        </>
      )
    })}
  </div>
)

/** Renders a form with the fields of a request. */
export const SchemaForm = <S extends Schemas>(form: ChangeProps & Fields<S>) => (
  <ChangeForm {...form}>
    <SchemaFields {...form} />
  </ChangeForm>
)
