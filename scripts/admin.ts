import { readArguments } from './admin/arguments.ts'
import type { Command, Request, Said } from './admin/command.ts'
import { confirm } from './admin/confirm.ts'
import { isUnsure } from './admin/failure.ts'
import { plain, plainJson } from './admin/plain.ts'
import { readProfile } from './admin/profile.ts'
import { connect, type Service } from './admin/service.ts'
import { filled } from './admin/show.ts'
import { Halt } from './push/halt.ts'

// Administers the service: `npm run admin -- accounts list`.

const HARMLESS = 'Repeat the command: it does no harm.'

async function administer(command: Command, request: Request, said: Said) {
  const service = connect(readProfile(process.env), (text) => console.error(text))
  if (command.lost && !said.yes) {
    const { stdin: input, stderr: output } = process
    await confirm(filled(command.lost, said), Object.values(said.operands).at(-1)!, {
      input,
      output,
    })
  }
  const body = await answerTo(service, command, request, said)
  // What has no body has nothing for a program.
  if (!said.json) console.log(command.show(body, said))
  else if (body !== undefined) console.log(plainJson(body))
  if (command.secret) {
    console.error(
      `Keep the ${command.secret} now: it is shown this once, nobody can ask for it again.`,
    )
  }
}

async function answerTo(service: Service, command: Command, request: Request, said: Said) {
  const { run = (ask: Service) => ask(request), method, unsure = HARMLESS } = command
  try {
    return await run(service, request, said)
  } catch (error) {
    if (!(error instanceof Halt) || method === 'GET' || !isUnsure(error)) throw error
    throw new Halt(1, `${error.message}\nWhether it was done is not known: ${unsure}`, error)
  }
}

try {
  const errand = readArguments(process.argv.slice(2))
  if ('help' in errand) console.log(errand.help)
  else await administer(errand.command, errand.request, errand.said)
} catch (error) {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n').map(plain)
  console.error(`admin: ${lines.join('\n')}`)
  process.exitCode = error instanceof Halt ? error.exitCode : 1
}
