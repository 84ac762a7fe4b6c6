/** Is notified of changes of links, and of what captures missed: what a link did is judged by the settings that it had then. */
export interface ChangeWatch {
  changing(): Promise<void>;
  changed(): Promise<void>;
  captured(link: string, missed: number): void;
}
