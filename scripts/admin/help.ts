import { type Command, nameOf, type Option, operandsOf } from './command.ts'
import { COMMANDS } from './commands.ts'

const RUN = 'npm run admin --'

const optionText = ([name, { hint, many, required }]: [string, Option]) => {
  const text = `--${name}${hint ? ` ${hint}` : ''}`
  const bracketed = required ? text : `[${text}]`
  return many ? `${bracketed}…` : bracketed
}

/** How any command is written. */
export const USAGE = `${RUN} NOUN VERB …, all of which ${RUN} --help lists`

/** How a command is written. */
export function usageOf(command: Command): string {
  const { words, options = {}, lost } = command
  const said = [
    ...operandsOf(command),
    ...(words ? [`${words} …`] : []),
    ...Object.entries(options).map(optionText),
    ...(lost ? ['[--yes]'] : []),
  ]
  return [RUN, nameOf(command), ...said].join(' ')
}

const short = (command: Command) => [nameOf(command), ...operandsOf(command)].join(' ')

/** Two columns, the second of them behind the longest of the first. */
function columns(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...pairs.map(([left]) => left.length))
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

/** What `--help` prints. */
export function help(): string {
  return `Administers Tributary: all of /admin/v1, for the integrations team.

  ${RUN} accounts list
  ${RUN} clients --help      what there is to say of one noun

${columns(COMMANDS.map((command) => [short(command), command.about])).join('\n')}

${columns([
  ['--json', 'the JSON of the API (with `npm run -s`, nothing else is on stdout)'],
  ['--limit N', 'the first N of a list, which is walked to its end otherwise'],
  ['--yes', 'goes on without asking, where something is lost for good'],
]).join('\n')}

TRIBUTARY_BASE_URL and TRIBUTARY_ADMIN_KEY say which service and who asks; without them it is
.demo.json, which \`npm run dev\` writes. The key is never an argument.

Exit code: 0 done, 1 refused or failed, 2 wrong usage.`
}

/** What `--help` prints of some commands. */
export function helpOf(commands: readonly Command[]): string {
  return commands
    .map((command) => {
      const options = Object.entries(command.options ?? {})
      return [
        usageOf(command),
        `  ${command.about}`,
        ...columns(options.map(([name, { about }]) => [`--${name}`, about])).map((l) => `  ${l}`),
      ].join('\n')
    })
    .join('\n\n')
}
