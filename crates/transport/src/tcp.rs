//! TCP sockets as the source and sink of a channel.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

use crate::cancel::CANCEL_POLL;
use crate::pipe::EAGER;
use crate::raw::{Sink, Source, Tried};
use crate::{CancelHandle, Fault, TransportReason};

/// How far a channel reads ahead, in bytes; such bytes are copied again.
const READ: usize = 64 << 10;

/// Reads of at least this many bytes go directly to their destination.
const DIRECT: usize = 8 << 10;

/// How often a connection that is slow to be made is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// How long a connection may be idle before the system probes it, and the time between two probes.
/// Firewalls and translators of addresses forget a connection that is idle for longer than some
/// minutes, and parties may compute for hours without a message.
const PROBE: Duration = Duration::from_secs(30);

/// After this many probes without an answer the connection is over: ten minutes, about as long as
/// the system tries to deliver data. A wait ends earlier, by its own time-out.
const PROBES: u32 = 20;

/// Makes the system probe the connection while nothing is sent over it.
pub(crate) fn keep_alive(socket: &TcpStream) {
    let probes = TcpKeepalive::new().with_time(PROBE).with_interval(PROBE).with_retries(PROBES);
    // A connection without probes works as well, as long as it is used.
    let _ = SockRef::from(socket).set_tcp_keepalive(&probes);
}

/// Returns what an I/O error means for the connection.
pub(crate) fn reason(error: &io::Error, waited: Duration) -> TransportReason {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => TransportReason::TimedOut(waited),
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected
        | ErrorKind::BrokenPipe => TransportReason::Closed,
        _ => io(error),
    }
}

/// Wraps an I/O error that says nothing more specific about the connection.
pub(crate) fn io(error: &io::Error) -> TransportReason {
    let fault = Fault::new("connection-failed", error.to_string());
    TransportReason::Io(fault.caused_by_io(error))
}

/// Connects to `address`, and gives up at the deadline or when `cancel` is cancelled. The system's
/// own wait cannot be cancelled.
pub(crate) fn connect(
    address: SocketAddr,
    deadline: Instant,
    cancel: &CancelHandle,
) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    let left = deadline.saturating_duration_since(Instant::now());
    let soon = left.clamp(Duration::from_millis(1), CANCEL_POLL);
    match socket.connect_timeout(&address.into(), soon) {
        Err(e) if e.kind() == ErrorKind::TimedOut => {}
        done => return done.map(|()| socket.into()),
    }
    // The system continues with this attempt. New ones, each as short, would fail on a slow link.
    loop {
        if let Some(error) = socket.take_error()? {
            return Err(error);
        }
        if socket.peer_addr().is_ok() {
            return Ok(socket.into());
        }
        thread::sleep(next_wait(deadline, cancel)?.min(LOOK));
    }
}

/// Returns how long to wait before the next check for cancellation. Fails when the deadline has
/// passed or `cancel` is cancelled.
fn next_wait(deadline: Instant, cancel: &CancelHandle) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::Error::new(ErrorKind::TimedOut, "connection timed out"));
    }
    if cancel.is_cancelled() {
        return Err(ErrorKind::ConnectionAborted.into());
    }
    Ok(left.min(CANCEL_POLL))
}

/// Reads a socket with a time-out for every read.
pub(crate) struct SocketReader {
    socket: Arc<TcpStream>,
    /// The socket's current time-out.
    set: Duration,
    /// Set by [`SocketWriter::stop_reading`].
    stopped: Arc<AtomicBool>,
}

impl SocketReader {
    fn new(socket: Arc<TcpStream>, stopped: Arc<AtomicBool>) -> Self {
        SocketReader { socket, set: Duration::ZERO, stopped }
    }

    /// Reads at least one byte; waits for about `wait`.
    pub(crate) fn read(
        &mut self,
        buf: &mut [u8],
        wait: Duration,
    ) -> Result<usize, TransportReason> {
        self.read_parts([buf, &mut []], wait)
    }

    /// Reads into two buffers, the first of which is filled first.
    fn read_parts(
        &mut self,
        parts: [&mut [u8]; 2],
        wait: Duration,
    ) -> Result<usize, TransportReason> {
        let mut parts = parts.map(IoSliceMut::new);
        self.go_on()?;
        if let Some(n) = self.read_soon(&mut parts)? {
            return Ok(n);
        }
        let begun = Instant::now();
        let mut left = wait.max(Duration::from_millis(1));
        // The system's own wait cannot be stopped, so it is short.
        loop {
            self.set_timeout(left.min(CANCEL_POLL))?;
            match (&*self.socket).read_vectored(&mut parts) {
                Ok(0) => return Err(TransportReason::Closed),
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => match reason(&e, wait) {
                    TransportReason::TimedOut(_) => {}
                    reason => return Err(reason),
                },
            }
            self.go_on()?;
            left = wait.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(TransportReason::TimedOut(wait));
            }
        }
    }

    /// Fails if the reading was stopped.
    fn go_on(&self) -> Result<(), TransportReason> {
        match self.stopped.load(Ordering::SeqCst) {
            true => Err(TransportReason::ClosedHere),
            false => Ok(()),
        }
    }

    fn set_timeout(&mut self, wait: Duration) -> Result<(), TransportReason> {
        let wait = wait.max(Duration::from_millis(1));
        // Setting the time-out costs a system call, and a deviation of one sixteenth makes no
        // difference.
        if self.set < wait - wait / 16 || self.set > wait + wait / 16 {
            self.socket.set_read_timeout(Some(wait)).map_err(|e| reason(&e, wait))?;
            self.set = wait;
        }
        Ok(())
    }
}

impl SocketReader {
    /// Reads what arrives within [`EAGER`].
    #[cfg(target_os = "linux")]
    fn read_soon(&self, parts: &mut [IoSliceMut<'_>; 2]) -> Result<Option<usize>, TransportReason> {
        use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};
        let mut since = None;
        loop {
            let mut nothing = RecvAncillaryBuffer::default();
            let got = recvmsg(&self.socket, parts, &mut nothing, RecvFlags::DONTWAIT);
            match got.map(|message| message.bytes) {
                Ok(0) => return Err(TransportReason::Closed),
                Ok(n) => return Ok(Some(n)),
                Err(e) => match io::Error::from(e) {
                    e if e.kind() == ErrorKind::Interrupted => {}
                    e if e.kind() == ErrorKind::WouldBlock => {}
                    e => return Err(reason(&e, Duration::ZERO)),
                },
            }
            if since.get_or_insert_with(Instant::now).elapsed() >= EAGER {
                return Ok(None);
            }
            thread::yield_now();
        }
    }

    /// Returns `None`: elsewhere every read sleeps until something arrives.
    #[cfg(not(target_os = "linux"))]
    fn read_soon(
        &self,
        _parts: &mut [IoSliceMut<'_>; 2],
    ) -> Result<Option<usize>, TransportReason> {
        Ok(None)
    }
}

impl SocketReader {
    /// Returns whether there is something to read, or the end, or an error.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_input(&self) -> bool {
        use rustix::net::{RecvFlags, recv};
        let mut scratch = [0; 1];
        match recv(&self.socket, &mut scratch, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok(_) => true,
            Err(e) => is_final(&io::Error::from(e)),
        }
    }

    /// Returns the same on systems where a single read cannot be non-blocking. Nobody else may use
    /// the socket meanwhile.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn has_input(&self) -> bool {
        if self.socket.set_nonblocking(true).is_err() {
            return true;
        }
        let peeked = self.socket.peek(&mut [0; 1]);
        let restored = self.socket.set_nonblocking(false);
        restored.is_err() || peeked.map_or_else(|e| is_final(&e), |_| true)
    }
}

/// Returns whether an error means more than that there is nothing to read yet.
fn is_final(error: &io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// A channel's source over plain TCP.
pub(crate) struct TcpSource {
    reader: SocketReader,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl TcpSource {
    pub(crate) fn new(reader: SocketReader) -> Self {
        TcpSource { reader, buffer: vec![0; READ], start: 0, end: 0 }
    }
}

impl Source for TcpSource {
    fn read(&mut self, dst: &mut [u8], wait: Duration) -> Result<usize, TransportReason> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if dst.len() >= DIRECT {
                let wanted = dst.len();
                let n = self.reader.read_parts([dst, &mut self.buffer], wait)?;
                self.end = n.saturating_sub(wanted);
                return Ok(n.min(wanted));
            }
            self.end = self.reader.read(&mut self.buffer, wait)?;
        }
        let n = dst.len().min(self.end - self.start);
        dst[..n].copy_from_slice(&self.buffer[self.start..self.start + n]);
        self.start += n;
        Ok(n)
    }

    fn ready(&self) -> usize {
        self.end - self.start
    }

    fn has_input(&mut self) -> bool {
        self.ready() > 0 || self.reader.has_input()
    }
}

/// Writes to a socket, and handles its shutdown.
pub(crate) struct SocketWriter {
    socket: Arc<TcpStream>,
    timeout: Mutex<Duration>,
    /// Stops the [reader](SocketWriter::reader). The socket is not shut down for reading: then
    /// nothing could be drained before it is closed, and unread data would make the system reset
    /// the connection and discard what the peer does not have yet, such as the abort notice.
    stopped: Arc<AtomicBool>,
}

impl SocketWriter {
    pub(crate) fn new(socket: TcpStream) -> Self {
        let (socket, timeout) = (Arc::new(socket), Mutex::new(Duration::ZERO));
        SocketWriter { socket, timeout, stopped: Arc::default() }
    }

    /// Returns a reader of the socket, which [`SocketWriter::stop_reading`] stops.
    pub(crate) fn reader(&self) -> SocketReader {
        SocketReader::new(self.socket.clone(), self.stopped.clone())
    }

    /// Writes everything. The time-out applies to every piece that the socket takes.
    pub(crate) fn write(&self, mut data: &[u8]) -> Result<(), TransportReason> {
        while !data.is_empty() {
            match (&*self.socket).write(data) {
                Ok(0) => return Err(TransportReason::Closed),
                Ok(n) => data = &data[n..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    let timeout = *self.timeout.lock().unwrap_or_else(PoisonError::into_inner);
                    return Err(reason(&e, timeout));
                }
            }
        }
        Ok(())
    }

    /// Writes as much as the socket takes at once, one piece after another.
    #[cfg(target_os = "linux")]
    pub(crate) fn write_now(&self, pieces: &[IoSlice<'_>]) -> Result<usize, TransportReason> {
        use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match sendmsg(&self.socket, pieces, &mut SendAncillaryBuffer::default(), flags) {
            Ok(n) => Ok(n),
            Err(e) => match io::Error::from(e) {
                e if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
                e => Err(reason(&e, Duration::ZERO)),
            },
        }
    }

    /// Writes nothing: elsewhere everything goes through the writer thread.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn write_now(&self, _pieces: &[IoSlice<'_>]) -> Result<usize, TransportReason> {
        Ok(0)
    }

    pub(crate) fn close(&self) {
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    pub(crate) fn linger(&self, quiet: Duration, most: Duration) {
        let mut reader = SocketReader::new(self.socket.clone(), Arc::default());
        let mut scratch = vec![0; READ];
        let begun = Instant::now();
        loop {
            let left = most.saturating_sub(begun.elapsed()).min(quiet);
            if left.is_zero() || reader.read(&mut scratch, left).is_err() {
                return;
            }
        }
    }

    pub(crate) fn kill(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    pub(crate) fn stop_reading(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub(crate) fn set_timeout(&self, timeout: Duration) {
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner) = timeout;
        // This fails only for a zero time-out, which a channel never has.
        let _ = self.socket.set_write_timeout(Some(timeout));
    }
}

impl Sink for SocketWriter {
    fn write(&self, data: &[u8]) -> Result<(), TransportReason> {
        SocketWriter::write(self, data)
    }

    fn at_once(&self) -> usize {
        // The system only copies the data, which are in the caller's cache.
        usize::MAX
    }

    fn try_write(&self, data: &[u8]) -> Result<Tried, TransportReason> {
        let n = self.write_now(&[IoSlice::new(data)])?;
        Ok(if n == data.len() { Tried::Done } else { Tried::Taken(n) })
    }

    fn try_write_parts(&self, parts: &[IoSlice<'_>]) -> Result<usize, TransportReason> {
        self.write_now(parts)
    }

    fn close(&self) {
        SocketWriter::close(self);
    }

    fn linger(&self, quiet: Duration, most: Duration) {
        SocketWriter::linger(self, quiet, most);
    }

    fn kill(&self) {
        SocketWriter::kill(self);
    }

    fn stop_reading(&self) {
        SocketWriter::stop_reading(self);
    }

    fn set_timeout(&self, timeout: Duration) {
        SocketWriter::set_timeout(self, timeout);
    }
}

/// A socket whose operations all end by one deadline, or when they are cancelled: for the beginning
/// of a connection, when the other side is not yet known to be a peer.
pub(crate) struct DeadlineStream<'a> {
    socket: &'a TcpStream,
    deadline: Instant,
    cancel: &'a CancelHandle,
}

impl<'a> DeadlineStream<'a> {
    pub(crate) fn new(socket: &'a TcpStream, deadline: Instant, cancel: &'a CancelHandle) -> Self {
        DeadlineStream { socket, deadline, cancel }
    }

    /// Tries again while the socket's own time-outs end what was tried. They must not reach the TLS
    /// layer: it takes "would block" as a request to try again later.
    fn retried(
        &self,
        set_timeout: fn(&TcpStream, Option<Duration>) -> io::Result<()>,
        mut tried: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            set_timeout(self.socket, Some(next_wait(self.deadline, self.cancel)?))?;
            match tried(self.socket) {
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                done => return done,
            }
        }
    }
}

impl Read for DeadlineStream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.retried(TcpStream::set_read_timeout, |mut socket| socket.read(buf))
    }
}

impl Write for DeadlineStream<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.retried(TcpStream::set_write_timeout, |mut socket| socket.write(buf))
    }

    // The TLS layer writes its last message about a failed handshake with a single call.
    fn write_vectored(&mut self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
        self.retried(TcpStream::set_write_timeout, |mut socket| socket.write_vectored(bufs))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn connected() -> (TcpStream, TcpStream) {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(door.local_addr().unwrap()).unwrap();
        (near, door.accept().unwrap().0)
    }

    #[test]
    fn a_single_write_takes_all_slices() {
        let (near, mut far) = connected();
        let deadline = Instant::now() + Duration::from_secs(10);
        let slices = [io::IoSlice::new(b"change cipher "), io::IoSlice::new(b"alert")];
        let never = CancelHandle::new();
        let n = DeadlineStream::new(&near, deadline, &never).write_vectored(&slices).unwrap();
        assert_eq!(n, 19);
        drop(near);
        let mut all = String::new();
        far.read_to_string(&mut all).unwrap();
        assert_eq!(all, "change cipher alert");
    }

    /// Cancels shortly after `wait` has begun, long before its deadline.
    fn cancelled<T: Send>(wait: impl FnOnce(Instant, &CancelHandle) -> T + Send) -> T {
        let (cancel, deadline) = (CancelHandle::new(), Instant::now() + Duration::from_secs(30));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| wait(deadline, &cancel));
            thread::sleep(CANCEL_POLL * 3 / 2);
            cancel.cancel();
            waiting.join().unwrap()
        })
    }

    /// A wait that is not interrupted fails at its deadline, with `TimedOut`.
    #[test]
    fn a_cancelled_read_does_not_wait_for_its_deadline() {
        let (near, _far) = connected();
        let read = cancelled(|deadline, cancel| {
            DeadlineStream::new(&near, deadline, cancel).read(&mut [0])
        });
        assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionAborted);
    }

    /// A port whose queue is full answers nothing until there is room.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_slow_connection_is_made_or_cancelled() {
        let door = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        door.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        door.listen(0).unwrap();
        let address = door.local_addr().unwrap().as_socket().unwrap();
        let mut queue = Vec::new();
        let full = loop {
            let deadline = Instant::now() + CANCEL_POLL * 2;
            match connect(address, deadline, &CancelHandle::new()) {
                Ok(socket) => queue.push(socket),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::TimedOut);
        let dialled = cancelled(|deadline, cancel| connect(address, deadline, cancel));
        assert_eq!(dialled.unwrap_err().kind(), ErrorKind::ConnectionAborted);
        thread::scope(|scope| {
            let deadline = Instant::now() + Duration::from_secs(30);
            let dialled = scope.spawn(move || connect(address, deadline, &CancelHandle::new()));
            thread::sleep(CANCEL_POLL * 2);
            queue.iter().for_each(|_| drop(door.accept().unwrap()));
            dialled.join().unwrap().unwrap();
        });
    }

    #[test]
    fn deadlines_and_lingering_end() {
        let (near, far) = connected();
        let deadline = Instant::now() + Duration::from_millis(20);
        let never = CancelHandle::new();
        let error = DeadlineStream::new(&near, deadline, &never).read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let writer = SocketWriter::new(near);
        // The other side neither closes nor sends anything.
        writer.linger(Duration::from_millis(20), Duration::from_secs(60));
        writer.linger(Duration::from_secs(60), Duration::from_millis(20));
        (&far).write_all(b"unread").unwrap();
        drop(far);
        let begun = Instant::now();
        // It takes what came, although the channel's reading was stopped.
        writer.stop_reading();
        let read = writer.reader().read(&mut [0], Duration::from_secs(60));
        assert_eq!(read, Err(TransportReason::ClosedHere));
        writer.linger(Duration::from_secs(60), Duration::from_secs(60));
        assert!(begun.elapsed() < Duration::from_secs(50), "ended by the other side's end");
        let mut reader = SocketReader::new(writer.socket.clone(), Arc::default());
        let read = reader.read(&mut [0], Duration::from_millis(20));
        assert_eq!(read, Err(TransportReason::Closed), "lingering took the unread bytes");
    }
}
