// Loads the code of charts only when a page has one to draw.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { StepChartProps } from './step-chart.tsx'

export function LazyStepChart(props: StepChartProps) {
  const [Loaded, setLoaded] = useState<ComponentType<StepChartProps> | null>(null)
  useEffect(() => {
    let here = true
    void import('./step-chart.tsx').then((module) => here && setLoaded(() => module.StepChart))
    return () => {
      here = false
    }
  }, [])
  return Loaded ? <Loaded {...props} /> : <div class="chart" aria-busy="true" />
}
