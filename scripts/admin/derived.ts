import * as v from 'valibot'
import type { DescribedOperation } from '../../src/platform/http/operation-words.ts'
import { usageError } from '../exit-error.ts'
import { OPERATIONS } from '../operations.ts'
import { fetchPages } from './client.ts'
import { withLines } from './errors.ts'
import { fetchFile, formatFile, TYPES } from './fetch-file.ts'
import { list, object, sentence } from './format.ts'
import {
  fillTemplate,
  type Input,
  type Operation,
  type OperationOption,
  type Options,
} from './operation.ts'
import { isCsvFile, readBytes, readJson, readRows, readText } from './read-body.ts'
import type { AdminRequest, SendRequest } from './request.ts'

// The commands of the operations that are values: arguments are the members of the path, options all others.

/** A schema of a member, as far as an option needs it. */
interface Schema extends v.GenericSchema {
  readonly wrapped?: Schema
  readonly item?: Schema
  readonly entries?: unknown
  readonly component?: string
  readonly options?: readonly (string | number)[]
  readonly pipe?: readonly Schema[]
}

const innerOf = (schema: Schema): Schema => (schema.wrapped ? innerOf(schema.wrapped) : schema)

const isNullable = (schema: Schema): boolean =>
  schema.type === 'nullable' || (schema.wrapped !== undefined && isNullable(schema.wrapped))

const isOptional = ({ type }: Schema) => type === 'optional' || type === 'exact_optional'

const metadataOf = (schema: Schema) =>
  v.getMetadata(innerOf(schema) as never) as { description?: string; examples?: unknown[] }

/** Returns whether values of a schema are written as JSON: objects, and lists of them. */
function isJson(schema: Schema): boolean {
  const { type, entries, component, item } = innerOf(schema)
  return !!entries || type === 'record' || !!component || (item !== undefined && isJson(item))
}

/** Returns the values that a schema allows; undefined if it allows any. The options of a union are schemas. */
function choicesOf(schema: Schema): readonly string[] | undefined {
  const { type, options, pipe = [] } = innerOf(schema)
  if (type === 'union') return undefined
  if (type === 'boolean') return ['true', 'false']
  return (options ?? pipe.find((part) => part.options)?.options)?.map(String)
}

/** The most characters of choices in the place of a value: more would leave no room for the description. */
const MAX_PLACEHOLDER = 40

/** The number of a day or an id needs no placeholder of its own: its name says what it is. */
function placeholderOf(name: string, schema: Schema): string {
  if (isJson(schema)) return 'json'
  const choices = choicesOf(schema)?.join('|') ?? ''
  if (choices !== '' && choices.length <= MAX_PLACEHOLDER) return choices
  return innerOf(schema).type === 'number' ? 'n' : name
}

function optionOf(name: string, schema: Schema): OperationOption {
  const inner = innerOf(schema)
  const { description = '' } = metadataOf(schema)
  const choices = choicesOf(schema)
  return {
    value: placeholderOf(name, schema),
    description: isNullable(schema) ? `${description} An empty text removes it.` : description,
    member: name,
    ...(choices && { choices: isNullable(schema) ? [...choices, ''] : choices }),
    ...(inner.item && !isJson(schema) && { repeatable: true }),
    ...(!isOptional(schema) && { required: true }),
  }
}

/** Returns the name of an option: ids have the name of what they identify. */
const flagOf = (name: string) => name.replace(/_id$/, '').replaceAll('_', '-')

/** Returns the value that a member of a body has, of the texts of an option. */
function valueOfMember(schema: Schema, texts: readonly string[]): unknown {
  const inner = innerOf(schema)
  const [text = ''] = texts
  if (text === '' && isNullable(schema)) return null
  if (isJson(schema) || (inner.type === 'union' && /^[[{]/.test(text))) return readJson(text)
  if (inner.item) return texts
  if (inner.type === 'boolean') return text === 'true'
  return inner.type === 'number' || inner.type === 'custom' ? Number(text) : text
}

/** Returns the body that the options of a command line make. */
function bodyOf(
  { method, body }: Pick<DescribedOperation, 'method' | 'body'>,
  { options, operands }: Input,
  argument?: string,
): Readonly<Record<string, unknown>> {
  const members = Object.entries(body as Readonly<Record<string, Schema>>)
  const sent = members.flatMap(([name, schema]) => {
    const texts = name === argument ? [operands[name] ?? ''] : options[flagOf(name)]
    return texts ? [[name, valueOfMember(schema, texts)]] : []
  })
  if (method !== 'PATCH' || sent.length > 0) return Object.fromEntries(sent)
  const flags = members.map(([name]) => `--${flagOf(name)}`)
  throw usageError(`Nothing to change. Add at least one of ${flags.join(', ')}.`)
}

/** Returns the options of members. */
export const optionsOf = (members: v.ObjectEntries): Options =>
  Object.fromEntries(
    Object.entries(members as Readonly<Record<string, Schema>>).map(([member, schema]) => [
      flagOf(member),
      optionOf(member, schema),
    ]),
  )

/** Returns the arguments and options of an example: those that are needed, or one that changes something. */
function exampleOf(of: DescribedOperation, options: Options, argument: readonly string[]): string {
  const members = { ...of.params, ...of.body } as Readonly<Record<string, Schema>>
  const exampleOfMember = (name: string) => {
    const schema = members[name]
    const fallback = schema && isJson(schema) ? '{}' : undefined
    const [example = fallback] = (schema && metadataOf(schema).examples) ?? []
    if (typeof example === 'object') return JSON.stringify(example)
    return String(example ?? (schema && choicesOf(schema)?.[0]) ?? '')
  }
  const inPath = [...of.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const operands = [...new Set([...inPath, ...argument])].map((name) =>
    name === 'account' ? 'acme' : exampleOfMember(name) || name.toUpperCase(),
  )
  const known = Object.entries(options).flatMap(([flag, { member = flag, required }]) => {
    const value = exampleOfMember(member)
    return value === ''
      ? []
      : [{ required, text: `--${flag} ${/[\s{[]/.test(value) ? `'${value}'` : value}` }]
  })
  const needed = known.filter(({ required }) => required)
  const shown = needed.length > 0 || of.method !== 'PATCH' ? needed : known.slice(0, 1)
  return [...operands, ...shown.map(({ text }) => text)].join(' ')
}

/** Returns the value of the argument `file`, as the body of a request: the text of CSV, if the operation takes it. */
function wholeOf(
  { body, maxBytes }: DescribedOperation,
  { operands: { file = '' } }: Input,
): object | string {
  if (maxBytes) return readBytes(file)
  const [[member = '', schema] = []] = Object.entries(body as Readonly<Record<string, Schema>>)
  if (!schema || member === 'csv') return readText(file)
  if (isCsvFile(file)) return rowsOf(file, innerOf(schema).item!.entries as never)
  const read = readJson(file) as Readonly<Record<string, object>>
  // What was read may be an answer that has the body as a member, as a version has its terms.
  const inner = Array.isArray(read) ? undefined : read[member]
  return typeof inner === 'object' ? inner : read
}

/** Returns the rows of a CSV file, read as their schema says. An empty cell is null if its member can be. */
const rowsOf = (file: string, entries: Readonly<Record<string, Schema>>): object[] =>
  readRows(file).map((row) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, cell]) => {
        const schema = entries[name]
        if (cell === '' && !(schema && isNullable(schema))) return []
        return [[name, schema ? valueOfMember(schema, [cell]) : cell]]
      }),
    ),
  )

/** How many of the rows of a list are read. */
const LIMIT: Options = {
  limit: {
    value: 'n',
    description: 'The first n items. (default: all pages)',
    pattern: /^[1-9]\d{0,8}$/,
  },
}

/** Returns all pages of a list, or its first items. */
const runList: NonNullable<Operation['run']> = (send, { query: { limit, ...query }, ...request }) =>
  fetchPages(send, { ...request, query }, limit ? Number(limit) : Number.POSITIVE_INFINITY)

/** Sends a request again with the `next` of each answer as cursor, and adds up what the answers count. */
async function runToEnd(
  send: SendRequest,
  request: AdminRequest,
  report: (text: string) => void,
): Promise<unknown> {
  let answer = (await send(request)) as { readonly next?: string | null }
  while (typeof answer?.next === 'string') {
    report(`To continue from here: --cursor ${answer.next}`)
    const query = { ...request.query, cursor: answer.next }
    const before: Readonly<Record<string, unknown>> = answer
    const more = Object.entries((await send({ ...request, query })) as typeof answer)
    answer = Object.fromEntries(
      more.map(([name, one]) => [name, typeof one === 'number' ? Number(before[name]) + one : one]),
    )
  }
  return answer
}

function toCommand(of: DescribedOperation): Operation {
  const { command, description, answer, files = {} } = of.words!
  const {
    name,
    argument = of.whole ? 'file' : undefined,
    done = 'Done.',
    confirm,
    rows,
    columns,
    ...rest
  } = command!
  const [noun = '', verb] = name.split(' ')
  const isList = Object.hasOwn(of.params, 'per_page')
  const inQuery = Object.entries(of.params).filter(
    ([member]) =>
      !of.path.includes(`{${member}}`) &&
      !(isList && ['page', 'per_page', 'cursor'].includes(member)) &&
      member !== argument,
  )
  const inBody = of.whole ? [] : Object.entries(of.body)
  const members = [...inQuery, ...inBody].filter(([one]) => one !== argument)
  const hasCsv = Object.hasOwn(files, TYPES.csv)
  const options = {
    ...optionsOf(Object.fromEntries(members)),
    ...(hasCsv && answer && { csv: { description: 'Prints CSV.' } }),
    ...(isList && LIMIT),
  }
  const own = {
    noun,
    ...(verb && { verb }),
    summary: description,
    example: exampleOf(of, options, argument ? [argument] : []),
    path: of.path.slice(1),
    order: of.path,
    options,
    ...(argument && { argument, isArgumentInQuery: Object.hasOwn(of.params, argument) }),
    format: (body: unknown, input: Input) => {
      if (!body) return sentence(done)(body, input)
      if (typeof body === 'string') return formatFile(body)
      const isTable = isList || Object.keys(body).join() === 'data'
      return isTable ? list(columns, rows)(body, input) : object(body, input)
    },
    ...rest,
  }
  const run: Operation['run'] = async (send, request, input, report) => {
    const isText = Object.hasOwn(files, TYPES.text) && !input.json
    const format = isText ? 'text' : 'csv'
    if (isText || (hasCsv && (input.options.csv || !answer)))
      return fetchFile(send, request, { format, isList }, report)
    if (isList) return runList(send, request, input, report)
    return runToEnd(send, request, report).catch((error) => {
      throw isCsvFile(input.operands.file ?? '') ? withLines(error) : error
    })
  }
  return {
    ...own,
    method: of.method,
    run,
    ...(of.method !== 'GET' &&
      of.method !== 'DELETE' && {
        inQuery: optionsOf(Object.fromEntries(inQuery)),
        body: (input: Input) => (of.whole ? wholeOf(of, input) : bodyOf(of, input, argument)),
      }),
    ...(confirm && {
      confirmation: ({ operands, options: given }: Input) =>
        Object.entries(confirm.if ?? {}).every(([flag, value]) => given[flag]?.[0] === value)
          ? { warning: fillTemplate(confirm.warning, operands), name: operands[confirm.name] ?? '' }
          : null,
    }),
  }
}

/** The commands of the operations that are values, in the order of the reference. */
export const DERIVED: readonly Operation[] = OPERATIONS.filter(({ words }) => words?.command).map(
  toCommand,
)
