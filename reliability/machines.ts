// Simulated machines: network namespaces on one bridge whose processes are killed, frozen and disconnected together.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

export interface Machine {
  name: string
  address: string
  /** Runs a program there, optionally as another user; its output goes to `log`. */
  run: (program: string, args: string[], options: { log: string; user?: string; env?: Record<string, string> }) => ChildProcess
  pids: () => number[]
  /** Sends a signal to all its processes, or to those whose command line matches. */
  signal: (name: NodeJS.Signals, matching?: RegExp) => void
  /** Disconnects it from the network. */
  partition: () => void
  heal: () => void
}

export interface Machines {
  /** common prefix of all addresses, with its dot: `10.78.5.` */
  net: string
  /** address of the host */
  own: string
  add: (name: string, last: number) => Machine
  /** Kills all processes and removes the machines. */
  remove: () => void
}

/** Requires root, `ip` and `setpriv`. */
export function openMachines(): Machines {
  const tag = process.pid % 100_000
  // A different network than the previous run.
  const net = `10.78.${process.pid % 250}.`
  const bridge = `mmb${tag}`
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe', encoding: 'utf8' })
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('link', 'set', bridge, 'up')
  ip('address', 'add', `${net}1/24`, 'dev', bridge)
  const machines: (Machine & { remove: () => void })[] = []
  const add = (name: string, last: number): Machine => {
    const [space, outer, inner] = [`mintmark-${tag}-${name}`, `mm${tag}o${last}`, `mm${tag}i${last}`]
    ip('netns', 'add', space)
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', space)
    ip('link', 'set', outer, 'master', bridge)
    ip('link', 'set', outer, 'up')
    const inside = (...args: string[]) => ip('netns', 'exec', space, 'ip', ...args)
    inside('address', 'add', `${net}${last}/24`, 'dev', inner)
    inside('link', 'set', inner, 'up')
    inside('link', 'set', 'lo', 'up')
    const pids = () => ip('netns', 'pids', space).split('\n').filter(Boolean).map(Number)
    const signal = (signalName: NodeJS.Signals, matching?: RegExp) => {
      for (const pid of pids()) {
        try {
          if (!matching || matching.test(commandOf(pid))) process.kill(pid, signalName)
        } catch {
          // The process has already ended.
        }
      }
    }
    const machine = {
      name,
      address: `${net}${last}`,
      pids,
      signal,
      run(program: string, args: string[], { log, user, env = {} }: { log: string; user?: string; env?: Record<string, string> }) {
        const identity = user ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'] : []
        const command = ['netns', 'exec', space, ...identity, program, ...args]
        const output = openSync(log, 'a')
        const child = spawn('ip', command, { cwd: '/', env: { PATH: process.env.PATH, LC_ALL: 'C', ...env }, stdio: ['ignore', output, output] })
        closeSync(output)
        return child
      },
      partition: () => void ip('link', 'set', outer, 'down'),
      heal: () => void ip('link', 'set', outer, 'up'),
      remove() {
        signal('SIGKILL')
        spawnSync('ip', ['netns', 'del', space])
        // A lingering socket keeps the namespace alive, and with it its end of the link.
        spawnSync('ip', ['link', 'del', outer], { stdio: 'ignore' })
      },
    }
    machines.push(machine)
    return machine
  }
  const remove = () => {
    for (const machine of machines) machine.remove()
    machines.length = 0
    spawnSync('ip', ['link', 'del', bridge], { stdio: 'ignore' })
  }
  process.once('exit', remove)
  return { net, own: `${net}1`, add, remove }
}

function commandOf(pid: number): string {
  return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
}
