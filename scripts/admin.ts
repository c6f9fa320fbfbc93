import { runAdmin } from './admin/run.ts'

// Administers the service: `npm run admin -- accounts list`.

process.exitCode = await runAdmin(process.argv.slice(2), {
  env: process.env,
  terminal: { input: process.stdin, output: process.stderr },
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
