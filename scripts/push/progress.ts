import { progress as bar } from '@clack/prompts'

/** Shows on stderr how far it is. */
export interface Progress {
  /** Records were answered, or lost; `bytes` of the files are done with them. */
  settled: (records: number, bytes: number) => void
  /** Something holds it up; it is shown until something is settled again. */
  note: (text: string) => void
  end: () => void
}

const TTY_MS = 250
const PLAIN_MS = 3000

/** A bar where there is a terminal, elsewhere a line every few seconds. */
export function showProgress(totalBytes: number, stderr: NodeJS.WriteStream): Progress {
  const started = performance.now()
  let records = 0
  let bytes = 0
  let noted = ''

  const line = () => {
    const seconds = (performance.now() - started) / 1000
    const left = bytes > 0 ? (seconds / bytes) * (totalBytes - bytes) : null
    const said = [
      `${records.toLocaleString('en')} records`,
      `${Math.round(records / seconds).toLocaleString('en')}/s`,
      left === null ? '' : `${duration(left)} left`,
      noted,
    ]
    return said.filter((part) => part !== '').join(' · ')
  }
  const show = stderr.isTTY ? onTerminal(totalBytes, stderr) : onPipe(stderr)
  const timer = setInterval(() => show.at(bytes, line()), stderr.isTTY ? TTY_MS : PLAIN_MS)
  timer.unref()

  return {
    settled(count, done) {
      records += count
      bytes += done
      noted = ''
    },
    note(text) {
      noted = text
    },
    end() {
      clearInterval(timer)
      show.end()
    },
  }
}

function onTerminal(totalBytes: number, output: NodeJS.WriteStream) {
  const shown = bar({ max: totalBytes, output, indicator: 'timer', cancelMessage: '' })
  let at = 0
  shown.start('Sending')
  // The bar makes the terminal raw and would end the process on Ctrl-C; we end it ourselves.
  if (process.stdin.isTTY) process.stdin.setRawMode(false)
  return {
    at(bytes: number, line: string) {
      shown.advance(bytes - at, line)
      at = bytes
    },
    end: () => shown.clear(),
  }
}

const onPipe = (output: NodeJS.WriteStream) => ({
  at: (_: number, line: string) => void output.write(`${line}\n`),
  end: () => {},
})

/** Seconds as a reader of clocks says them. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds)
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
