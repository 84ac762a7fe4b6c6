/**
 * Is notified of changes of links and of frames that captures missed: frames are judged by the settings that applied when they
 * passed.
 */
export interface ChangeWatch {
  changing(): Promise<void>;
  changed(): Promise<void>;
  captured(link: string, missed: number): void;
}
