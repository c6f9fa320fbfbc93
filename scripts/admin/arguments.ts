import { Argument, Command, Option } from 'commander'
import { examplesText, parseChoice, parseCommandLine } from '../command-line.ts'
import { usageError } from '../exit-error.ts'
import {
  argumentsOf,
  type Input,
  nameOf,
  type Operation,
  type OperationOption,
} from './operation.ts'
import { OPERATIONS } from './operations.ts'

/** What the command line asks for: an operation, or help. */
export type AdminArguments = { operation: Operation; input: Input } | { help: string }

const RUN = 'npm run -s admin --'

const JSON_OPTION: OperationOption = {
  description: 'Prints the JSON of the API.',
}
const EXCEL: OperationOption = {
  description: 'Prints CSV with a byte order mark, so that Excel reads it as UTF-8.',
}
const YES: OperationOption = { description: 'Skips the confirmation.' }

const DETAILS = `
Run ${RUN} clients --help for the commands for clients, and ${RUN}
clients rotate --help for one of them. Lists are read to their end unless --limit is given.

Environment:
  TRIBUTARY_BASE_URL and TRIBUTARY_ADMIN_KEY are the service and the key of the integrations team.
  Without them .demo.json is used, which \`npm run dev\` writes. The key is never an argument.

Exit codes:
  0  the command succeeded
  1  the service refused the request, or it failed
  2  an argument is wrong
${examplesText([
  `${RUN} accounts list`,
  `${RUN} accounts create acme --name Acme --vertical forex --mode test`,
])}`

/** Reads the command line. Throws ExitError with exit code 2 if it is wrong. */
export function readArguments(args: readonly string[]): AdminArguments {
  let found: { operation: Operation; input: Input } | undefined
  const program = new Command(RUN)
    .description('Administers Tributary through /admin/v1, for the integrations team.')
    .addHelpText('after', DETAILS)
  const nouns = new Map<string, Command>()
  for (const operation of OPERATIONS) {
    const { noun, verb } = operation
    const group = verb ? (nouns.get(noun) ?? addGroup(program, noun)) : program
    if (verb) nouns.set(noun, group)
    addOperation(group, operation, (input) => {
      found = { operation, input }
    })
  }
  const help = parseCommandLine(program, args)
  if (help !== null) return { help }
  if (!found) throw usageError('Missing command.')
  return found
}

function addGroup(program: Command, noun: string): Command {
  const operations = OPERATIONS.filter((one) => one.noun === noun)
  const verbs = operations.map(({ verb }) => verb).join(', ')
  return program
    .command(noun)
    .summary(verbs)
    .description(`Commands for ${noun}: ${verbs}.`)
    .addHelpText('after', examplesText(operations.map(exampleOf)))
}

const exampleOf = (operation: Operation) =>
  `${RUN} ${nameOf(operation)} ${operation.example}`.trimEnd()

function addOperation(group: Command, operation: Operation, found: (input: Input) => void) {
  const command = group
    .command(operation.verb ?? operation.noun)
    .description(operation.summary)
    .addHelpText('after', examplesText([exampleOf(operation)]))
  const names = argumentsOf(operation)
  for (const name of names) {
    const isInPath = operation.path.includes(`{${name}}`)
    command.addArgument(toArgument(name, isInPath))
  }
  for (const [name, option] of Object.entries(optionsOf(operation))) {
    const parsed = toOption(name, option)
    command.addOption(name === 'excel' ? parsed.implies({ csv: true }) : parsed)
  }
  command.action(() => {
    const { args } = command
    const { json, yes, excel, ...options } = Object.fromEntries(
      command.options.map((option) => [
        option.name(),
        command.getOptionValue(option.attributeName()),
      ]),
    )
    const given = Object.entries(options).filter(([, value]) => value !== undefined)
    found({
      operands: Object.fromEntries(names.map((name, i) => [name, args[i] ?? ''])),
      options: Object.fromEntries(
        given.map(([name, value]) => [name, value === true ? [] : value]),
      ),
      excel: excel === true,
      json: json === true,
      yes: yes === true,
    })
  })
}

const optionsOf = (operation: Operation) => ({
  ...operation.options,
  ...(operation.options?.csv && { excel: EXCEL }),
  ...(operation.confirmation && { yes: YES }),
  json: JSON_OPTION,
})

function toArgument(name: string, isInPath: boolean): Argument {
  return new Argument(`<${name}>`).argParser((value: string) => {
    // An unset variable of the shell is an empty argument.
    if (value === '') throw usageError(`Missing argument \`${name}\`.`)
    // URLs resolve these as relative segments, which would change the path.
    if (isInPath && (value === '.' || value === '..'))
      throw usageError(`Invalid ${name} \`${value}\`.`)
    return value
  })
}

function toOption(name: string, { value, description, required, ...rules }: OperationOption) {
  if (value === undefined) return new Option(`--${name}`, description)
  const option = new Option(`--${name} <${value}>`, description)
  if (rules.choices) option.choices(rules.choices)
  return option
    .makeOptionMandatory(required ?? false)
    .argParser((text: string, previous: string[] | undefined) => {
      validateValue(`--${name}`, value, text, rules)
      if (previous && !rules.repeatable) throw usageError(`--${name} is given twice.`)
      return [...(previous ?? []), text]
    })
}

/** The forms of values whose placeholder does not describe them. */
const FORMS: Readonly<Record<string, string>> = {
  n: 'a whole number of at least 1',
  bytes: 'a whole number of bytes',
  hash: '64 hexadecimal digits',
  decimal: 'a decimal such as 1.00',
  period: 'a month such as 2026-10 or a week such as 2026-W41',
}

function validateValue(
  name: string,
  form: string,
  text: string,
  { choices, pattern }: Pick<OperationOption, 'choices' | 'pattern'>,
) {
  if (choices) parseChoice(name, choices, text)
  // The value is missing, and the next option was taken for it.
  if (text.startsWith('--')) throw usageError(`Missing value of \`${name}\`.`)
  if (pattern?.test(text) === false) {
    throw usageError(`Invalid ${name} \`${text}\`. Use ${FORMS[form] ?? form}.`)
  }
}
