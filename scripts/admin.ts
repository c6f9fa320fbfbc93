import { runAdmin } from './admin/run.ts'

// Administers the service: `npm run admin -- accounts list`.

/** Returns a signal that Ctrl-C aborts: the command ends after what it does at this moment. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort())
  return controller.signal
}

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  terminal: { input: process.stdin, output: process.stderr },
  interruption,
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
