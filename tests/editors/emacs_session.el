;; What a user of Emacs does, without a window: the recipe of docs/editors.md, and a kernel that is opened.
(load (getenv "CYCLELENS_RECIPE"))
(setq eglot-sync-connect 30
      eglot-events-buffer-size 0)
(find-file (getenv "CYCLELENS_FILE"))
(flymake-mode 1)
(apply #'eglot--connect (eglot--guess-contact))

(defun seen ()
  "The diagnostics of the buffer as lines: number and text."
  (flymake-start)
  (mapcar (lambda (one)
            (format "%d %s"
                    (line-number-at-pos (flymake-diagnostic-beg one))
                    (flymake-diagnostic-text one)))
          (flymake-diagnostics)))

(let ((tries 300))
  (while (and (> tries 0) (null (seen)))
    (accept-process-output nil 0.1)
    (setq tries (1- tries))))
(dolist (line (seen))
  (princ (format "diagnostic %s\n" line)))
(goto-char (point-min))
(search-forward "0x1234")
(let* ((answer (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                                (eglot--TextDocumentPositionParams))))
  (princ (format "hover %s\n" (plist-get (plist-get answer :contents) :value))))
(eglot-shutdown (eglot--current-server-or-lose))
